"""Failures of a method: they stop the job or, under `--keep-going`, are recorded as its result.

Tables and ledger then show the reason in the cells concerned and everything else is made. Only a method's own error
is recorded: a full disk or too little memory is the machine's and stops the job.
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
REDUCED = "not at this scale: "  # prefix of reasons that a larger scale removes
FEW = "at this scale only on "  # prefix of reasons of methods that a scale runs in few setups
Result = TypeVar("Result")


@dataclass(frozen=True)
class Failed:
    """The recorded failure of a method, in place of its result."""

    reason: str


def tolerate(call: Callable[[], Result]) -> Result | Failed:
    """The result of `call` or, under `--keep-going`, its failure."""
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
    """The error in one line, for a table's cell."""
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
