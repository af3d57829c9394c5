"""A job's log: everything it prints, and the one line that says why it failed."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from .errors import InputError


@contextlib.contextmanager
def logged(job: Any) -> Iterator[None]:
    """Copy standard error to the job's log; bad input ends the job with its message, not a traceback."""
    with Path(job.log[0]).open("w") as log, contextlib.redirect_stderr(_Both(sys.stderr, log)):
        try:
            yield
        except InputError as error:
            print(f"error: {error}", file=sys.stderr)
            sys.exit(1)
        except Exception:
            import traceback

            traceback.print_exc()
            sys.exit(1)


class _Both:
    """A stream that writes to two."""

    def __init__(self, first: TextIO, second: TextIO) -> None:
        self.streams = (first, second)

    def write(self, text: str) -> int:
        for stream in self.streams:
            stream.write(text)
        return len(text)

    def flush(self) -> None:
        for stream in self.streams:
            stream.flush()

    def isatty(self) -> bool:
        return False
