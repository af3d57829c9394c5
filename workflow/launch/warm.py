"""Warm jobs: a process that has already imported what jobs import, and is forked for each.

Most of a short job's time is Python importing torch, pandas or matplotlib. The workflow starts one server. The first
thing a job's Python does is to call `warm_client.up` (see `job/sitecustomize.py`): the server forks a child that runs
the job's script with its own output, environment and folder, and the job waits for it. Before the first job of a
script the server imports what the script names, later what children imported besides; if a file of this library has
changed since, children read it anew (see `held`). A job that is killed takes its child with it, and the end of the
workflow ends server and children. Without a server (on a cluster, in another environment than the workflow's, not on
Linux) a job runs as it is.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import itertools
import os
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import held
from .warm_client import ADDRESS

OURS = ("launch", "__main__")  # never imported by the server
LATE = {"torch": "torch._dynamo"}  # what a library imports itself when it is first used: its optimizers do
LONGEST = 80  # bytes of the folder in which the server's own is
GARBAGE = 100_000  # objects between two looks for what can go: jobs are short, and such looks were a tenth of drawing
_server: subprocess.Popen[bytes] | None = None


def start() -> None:
    """Start the server of this workflow; it ends with this process."""
    global _server
    if sys.platform != "linux" or _server:
        return
    folder = tempfile.mkdtemp(prefix="cutlayer-", dir=_place())
    _server = subprocess.Popen(
        [sys.executable, "-m", __name__, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    threading.Thread(target=_watch, args=(_server, folder), daemon=True).start()
    os.environ[ADDRESS] = f"{folder}{os.pathsep}{sys.prefix}"


def _place() -> str:
    """Where the socket's folder is: the name of a socket has at most 107 bytes, and TMPDIR may have more."""
    usual = tempfile.gettempdir()
    return usual if len(os.fsencode(usual)) <= LONGEST else "/tmp"


def _watch(server: subprocess.Popen[bytes], folder: str) -> None:
    """Say if the server ends before the workflow does, and leave nothing of it behind."""
    assert server.stderr
    *_, last = [b"", *server.stderr.read().splitlines()]
    status = server.wait()
    why = last.decode(errors="replace") if status == 1 else f"exit status {status}"  # 1: of an exception
    print(f"The server that imports modules for jobs ended ({why}); they go on without it, slower.", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)


@dataclass
class Child:
    """A job that runs: its connection ends with the job's own process, its report with the child."""

    process: int
    connection: socket.socket
    report: int
    said: bytearray = field(default_factory=bytearray)  # the modules it imported

    def kill(self) -> None:
        """End it, whatever it does."""
        for kill in (os.kill, os.killpg):  # it has a group of its own, once it has run for a moment
            with contextlib.suppress(ProcessLookupError):
                kill(self.process, signal.SIGKILL)

    def close(self) -> None:
        """Let go of what the server holds of it."""
        self.connection.close()
        os.close(self.report)


class Server:
    """Forks a child for each script; single-threaded, so that a fork copies all there is."""

    def __init__(self, folder: Path) -> None:
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(folder / "socket"))
        self.listener.listen(128)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ, self.accept)
        self.children: list[Child] = []
        self.wanted: dict[str, None] = {}  # modules to import, in the order of the children's
        self.known: set[str] = set()  # the scripts that came

    def serve(self) -> None:
        """Until standard input, which the workflow holds, is closed."""
        self.selector.register(sys.stdin.fileno(), selectors.EVENT_READ, None)
        while True:
            for key, _ in self.selector.select(0 if self.wanted else None):
                if key.data is None:
                    return
                key.data()
            if self.wanted:
                self.warm()

    def warm(self) -> None:
        """Import one of the modules that children had to import."""
        name = next(iter(self.wanted))
        del self.wanted[name]
        _import(name)

    def prepare(self, script: Path) -> None:
        """Import what a new script names: else each of the first jobs would, all at the same time."""
        kind = script.name.partition(".")[2]  # before it is what makes Snakemake's copy unique
        if kind in self.known:
            return
        self.known.add(kind)
        for name in _named(script):
            _import(name)
        for name in [late for early, late in LATE.items() if early in sys.modules]:
            _import(name)

    def accept(self) -> None:
        """Fork a child for a job."""
        connection, _ = self.listener.accept()
        request, streams = _received(connection)
        if request is None:
            return connection.close()
        self.prepare(Path(request["argv"][0]))
        gc.freeze()
        reading, writing = os.pipe()
        process = os.fork()
        if process == 0:
            self.close()
            os.close(reading)
            connection.close()
            _work(request, streams, writing)
        for descriptor in (*streams, writing):
            os.close(descriptor)
        child = Child(process, connection, reading)
        self.children.append(child)
        self.selector.register(connection, selectors.EVENT_READ, lambda: self.abandon(child))
        self.selector.register(reading, selectors.EVENT_READ, lambda: self.listen(child))

    def listen(self, child: Child) -> None:
        """Hear what a child imported; at its end, tell the job's process how it ended."""
        if part := os.read(child.report, 65536):
            child.said += part
            return
        _, status = os.waitpid(child.process, 0)
        code = os.waitstatus_to_exitcode(status)
        self.children.remove(child)
        self.selector.unregister(child.report)
        self.forget(child)
        with contextlib.suppress(OSError):
            child.connection.send(bytes([code if code >= 0 else 128 - code]))
        child.close()
        self.wanted |= dict.fromkeys(child.said.decode().split())

    def abandon(self, child: Child) -> None:
        """The job's process was killed: so is its child."""
        self.forget(child)
        child.kill()

    def forget(self, child: Child) -> None:
        """Look at its connection no longer."""
        with contextlib.suppress(KeyError):
            self.selector.unregister(child.connection)

    def end(self) -> None:
        """Leave no child behind."""
        for child in self.children:
            child.kill()

    def close(self) -> None:
        """In a child: hold nothing of the server's."""
        self.selector.close()
        self.listener.close()
        for child in self.children:
            child.close()


def _import(name: str) -> None:
    """Import a module, if it can be: an error is for the job that needs it."""
    if name in sys.modules or name.partition(".")[0] in OURS:
        return
    began = time.time_ns()
    with contextlib.suppress(BaseException):
        importlib.import_module(name)
    held.note(began)


def _named(script: Path) -> list[str]:
    """The modules that a script imports, in its order; names of things in modules are among them."""
    found: list[str] = []
    with contextlib.suppress(OSError, SyntaxError, ValueError):
        for line in ast.walk(ast.parse(script.read_bytes())):
            if isinstance(line, ast.Import):
                found += [alias.name for alias in line.names]
            elif isinstance(line, ast.ImportFrom) and line.module:
                found += [line.module, *(f"{line.module}.{alias.name}" for alias in line.names)]
    return found


def _received(connection: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """What a job asks for and its three streams; None if it was killed meanwhile."""
    head, streams, _, _ = socket.recv_fds(connection, 8, 3)
    size, content = int.from_bytes(head, "big"), bytearray()
    with contextlib.suppress(OSError):
        while len(content) < size and (part := connection.recv(1 << 20)):
            content += part
    if len(head) == 8 and len(content) == size:
        return ast.literal_eval(content.decode()), streams
    for stream in streams:
        os.close(stream)
    return None, []


def _work(request: dict[str, Any], streams: list[int], report: int) -> None:
    """Be the job: run its script, say what it imported, end."""
    last, code = next(reversed(sys.modules)), 1
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for place, stream in enumerate(streams):
            os.dup2(stream, place)
        for stream in streams:
            os.close(stream)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update({key: value for key, value in request["environment"].items() if key != ADDRESS})
        sys.argv, sys.path[:] = request["argv"], request["path"]
        held.drop_changed()
        runpy.run_path(sys.argv[0], run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    with contextlib.suppress(OSError):
        os.write(report, "\n".join(_importable(last)).encode())
    os._exit(code & 255)


def _importable(last: str) -> list[str]:
    """The modules that a job imported after the `last`, but for this package's and those that are no files.

    The newest come first, and those before are not touched: each would be a page that the child has to copy.
    """
    found = [*itertools.takewhile(lambda name: name != last, reversed(sys.modules))]
    return [
        name
        for name in reversed(found)
        if name.partition(".")[0] not in OURS and getattr(sys.modules[name], "__spec__", None) is not None
    ]


def main(folder: Path) -> None:
    """Serve until the workflow ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(GARBAGE)
    try:
        server = Server(folder)
        try:
            server.serve()
        finally:
            server.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
