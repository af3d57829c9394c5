"""Locks: one workflow at a time in a folder, and jobs that end with the workflow that started them.

Snakemake's own lock stays behind when it is killed, and its jobs go on. The kernel releases a file lock (flock)
however its owner ends, so that a stale lock can be distinguished from one that is held. Where the file
system has no such locks, Snakemake's own remains the only one. By hand, because filelock has no shared flock; its
lock for readers and a writer is a database, in which no owner's name fits and a writer cannot become a reader.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NoReturn

from cutlayer.core.errors import InputError

STATE = Path(".snakemake")
PRESENT = STATE / "cutlayer.present"  # shared by all that run in this folder, or are about to
OWNER = STATE / "cutlayer.owner"  # held by the one that runs jobs; says which it is
JOBS = STATE / "cutlayer.jobs"  # shared by the jobs
LOCKS = STATE / "locks"  # Snakemake's own
MAIN = "CUTLAYER_MAIN"  # host and process of the workflow, for its jobs
WAIT = "CUTLAYER_WAIT"  # wait for another workflow instead of stopping
EVERY = 0.5  # seconds between two looks

_held: dict[Path, IO[str]] = {}  # an open file is a held lock


def settle() -> None:
    """Remove the stale locks of a killed run, before this one reads its state.

    With CUTLAYER_WAIT set, wait for another one that works here.

    Raises:
        InputError: the locks are another user's.

    """
    os.environ[MAIN] = _name(os.getpid())
    with contextlib.suppress(OSError):
        file = _held[PRESENT] = _open(PRESENT)
        if _wait(file, "another workflow in this folder") if os.environ.get(WAIT) else _try(file, fcntl.LOCK_EX):
            _unlock()
        fcntl.flock(file, fcntl.LOCK_SH)
        with _open(OWNER) as owner:
            if not _try(owner, fcntl.LOCK_EX):
                print(f"Another workflow works in this folder: {owner.read().strip()}.", file=sys.stderr)


def _unlock() -> None:
    """Remove Snakemake's locks if a workflow on this host left them; another host may still hold its own."""
    left = LOCKS.is_dir() and any(LOCKS.iterdir())
    with _open(OWNER) as owner:
        if left and owner.read().partition(" process ")[0] == socket.gethostname():
            shutil.rmtree(LOCKS)
            print("The lock of a workflow that was killed is removed.", file=sys.stderr)
        elif not left:
            _sign(owner)


def _sign(file: IO[str]) -> None:
    """Write this process into the lock file without emptying it first: a kill would then leave no owner."""
    name = f"{_name(os.getpid())}\n".encode()
    os.pwrite(file.fileno(), name, 0)
    os.ftruncate(file.fileno(), len(name))


def claim() -> None:
    """Become the only workflow in this folder, without jobs of a killed one, before the first job.

    Raises:
        InputError: another workflow works here; says which process.

    """
    with contextlib.suppress(OSError):
        file = _open(OWNER)
        if not _try(file, fcntl.LOCK_EX):
            wrong = f"another one works in this folder ({file.read().strip()})"
            raise InputError("workflow.folder", wrong, "wait for it, or end it")
        _sign(file)
        _held[OWNER] = file
        with _open(JOBS) as jobs:
            _wait(jobs, "the last jobs of a workflow that was killed")


@contextlib.contextmanager
def job() -> Iterator[None]:
    """Context of a job: visible to `claim`, and ended when the workflow that started it is gone."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            if STATE.is_dir():
                _try(stack.enter_context(_open(JOBS)), fcntl.LOCK_SH)
        host, _, process = os.environ.get(MAIN, "").partition(" process ")
        if host == socket.gethostname() and int(process) != os.getpid():
            threading.Thread(target=_end_with, args=(int(process),), daemon=True).start()
        yield


def _end_with(process: int) -> NoReturn:
    while _is_alive(process):
        time.sleep(EVERY)
    os.write(2, b"error: the workflow that started this job is gone\n")
    os._exit(1)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _wait(file: IO[str], what: str) -> bool:
    """Wait until no other process has the lock; report it once."""
    if not _try(file, fcntl.LOCK_EX):
        print(f"Waiting for {what}.", file=sys.stderr, flush=True)
        fcntl.flock(file, fcntl.LOCK_EX)
    return True


def _open(path: Path) -> IO[str]:
    path.parent.mkdir(exist_ok=True)
    try:
        return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+", encoding="utf-8")
    except PermissionError:
        wrong = f"{path} belongs to {_owner(path)}"
        raise InputError("workflow.folder", wrong, "expected a folder of your own") from None


def _owner(path: Path) -> str:
    """User who owns the lock file, and the process that works here, as far as they can be read."""
    who = "another user"
    with contextlib.suppress(OSError, KeyError):
        who = f"user {path.owner()}"
    with contextlib.suppress(OSError):
        who += f" ({OWNER.read_text(encoding='utf-8').strip()})"
    return who.removesuffix(" ()")


def _try(file: IO[str], kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _name(process: int) -> str:
    return f"{socket.gethostname()} process {process}"
