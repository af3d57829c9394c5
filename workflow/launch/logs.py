"""Setup of a job: copies its output to its log, reports a failure in one line, adds methods outside the tree."""

from __future__ import annotations

import contextlib
import errno
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from cutlayer.core.errors import InputError
from cutlayer.plan import plugins

from . import processes

FULL = (errno.ENOSPC, errno.EDQUOT)


@contextlib.contextmanager
def logged(job: Any) -> Iterator[None]:
    """Copy standard error to the job's log; bad input and a full disk end the job with a sentence, not a traceback."""
    with _Copy(sys.stderr, Path(job.log[0])) as both, contextlib.redirect_stderr(both), processes.job():
        try:
            plugins.look_in(job.config.get("methods", ""))
            yield
        except InputError as error:
            print(f"error: {error}", file=sys.stderr)
            sys.exit(1)
        except Exception as error:
            _explain(error)
            sys.exit(1)


def _explain(error: Exception) -> None:
    if isinstance(error, OSError) and error.errno in FULL:
        print(f"error: disk: is full ({error}); nothing was kept of this job: free space, run again", file=sys.stderr)
    else:
        traceback.print_exc()


class _Copy:
    """A stream that also writes to a log, as long as the log can be written: a full disk is reported on the stream.

    Progress within a job (it begins with a carriage return) goes to its log alone: the stream shows that of all jobs.
    """

    def __init__(self, stream: TextIO, log: Path) -> None:
        self.stream, self.path = stream, log

    def __enter__(self) -> _Copy:
        self.log: TextIO | None = None
        with contextlib.suppress(OSError):
            self.log = self.path.open("w", encoding="utf-8")
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            if self.log:
                self.log.close()

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            if self.log:
                self.log.write(text)
        return len(text) if text.startswith("\r") else self.stream.write(text)

    def flush(self) -> None:
        self.stream.flush()
        with contextlib.suppress(OSError):
            if self.log:
                self.log.flush()

    def close(self) -> None:
        """Nothing: a library that closes its stream at exit means this one."""

    def isatty(self) -> bool:
        return False
