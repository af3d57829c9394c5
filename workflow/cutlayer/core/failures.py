"""A method that fails: the job stops, or, under `--keep-going`, the failure becomes a result like others.

Tables and ledger then show the reason in the cells concerned and everything else is made. Only a method's own error
is kept: a full disk or too little memory is the machine's and stops the job.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from .errors import InputError

KEEP_GOING = "CUTLAYER_KEEP_GOING"
PREFIX = "failed: "
Result = TypeVar("Result")


@dataclass(frozen=True)
class Failed:
    """What a method that failed leaves in place of a result."""

    reason: str


def tolerate(call: Callable[[], Result]) -> Result | Failed:
    """The result of `call`; under `--keep-going` the reason why it has none."""
    try:
        return call()
    except (MemoryError, OSError):
        raise
    except Exception as error:
        if not os.environ.get(KEEP_GOING):
            raise
        _print(error)
        return Failed(f"{PREFIX}{_sentence(error)}")


def _sentence(error: Exception) -> str:
    """One line, to stand in a table."""
    text = " ".join(str(error).split())
    if isinstance(error, InputError):
        return text
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
    return f"{type(error).__name__}: {text}".removesuffix(": ") + notes


def _print(error: Exception) -> None:
    if isinstance(error, InputError):
        print(f"error: {error}", file=sys.stderr)
    else:
        traceback.print_exception(error)
