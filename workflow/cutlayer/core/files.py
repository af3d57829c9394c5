"""Atomic writing of files: a file appears complete or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import stat
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Context with a temporary path beside `path`, which is renamed to `path` on success and removed on any error.

    Temporary files of killed writers of the same file are removed if these ran on this machine, for only there is it
    known that they are dead. Nothing else is removed.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{target.name}.cutlayer-{_machine()}-"
    for left in target.parent.iterdir():
        if left.name.startswith(prefix) and not _is_alive(*left.name.removeprefix(prefix).split("-")[:2]):
            left.unlink(missing_ok=True)
    writer = f"{os.getpid()}-{_started(os.getpid())}-{secrets.token_hex(4)}"
    temporary = target.with_name(f"{prefix}{writer}{target.suffix}")
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))  # less what the umask takes
    mode = temporary.stat().st_mode
    try:
        yield temporary
        if temporary.stat().st_mode != mode:  # a library put a file of its own there
            temporary.chmod(stat.S_IMODE(mode))
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _machine() -> str:
    """An identifier of the machine's process table: containers may share a host name and not its processes."""
    try:
        return f"{socket.gethostname()}-{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return f"{socket.gethostname()}-0"


def _is_alive(process: str, started: str = "") -> bool:
    """Whether a process is still running, and its number was not reused by another one."""
    if not process.isdecimal():
        return True  # not a name that is given here
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # another user's
    return _started(int(process)) in ("", started)


def _started(process: int) -> str:
    """Start time of a process, in ticks since boot; empty where the system does not provide it."""
    try:
        return (
            Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
        )
    except OSError:
        return ""
