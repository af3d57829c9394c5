"""A method that fails: the job stops, or, under `--keep-going`, the failure becomes a result like others.

Tables and ledger then show the reason in the cells concerned and everything else is made. Only a method's own error
is kept: a full disk or too little memory is the machine's and stops the job. The next workflow tries again: a note
counts the attempts, and the count is among the job's parameters.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import InputError

KEEP_GOING = "CUTLAYER_KEEP_GOING"
PREFIX = "failed: "
NOTES = Path("results/failed")  # from the folder of the workflow
Result = TypeVar("Result")

if TYPE_CHECKING:
    import pandas as pd


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


def record(note: str | Path, attempt: int, reasons: list[str]) -> None:
    """Note that this attempt failed, or no longer did; nothing is noted of what never failed."""
    from .artifacts import replacing  # loads numpy, which the Snakefile has no use for

    if reasons or Path(note).exists():
        with replacing(note) as temporary:
            temporary.write_text(json.dumps({"attempt": attempt, "reasons": list(dict.fromkeys(reasons))}) + "\n")


def attempt(note: str | Path) -> int:
    """How often a failure was followed by a new attempt."""
    return int(_read(Path(note))["attempt"]) if Path(note).exists() else 0


def retry(folder: str | Path = NOTES) -> None:
    """Have all that failed tried again."""
    for note in _notes(folder):
        content = _read(note)
        if content["reasons"]:
            record(note, content["attempt"] + 1, [])


def found(folder: str | Path = NOTES) -> list[str]:
    """What failed in the last attempt, a sentence each."""
    failed = [(note.relative_to(folder).with_suffix(""), _read(note)["reasons"]) for note in _notes(folder)]
    return [f"{name}: {reason.removeprefix(PREFIX)}" for name, reasons in failed for reason in reasons]


def among(cells: pd.DataFrame) -> pd.Series:
    """Which rows of a table stand for something that failed."""
    return cells["skipped"].str.startswith(PREFIX)


def listed(cells: pd.DataFrame) -> list[str]:
    """Each failure in a table once, as people read it."""
    rows = cells[among(cells)].drop_duplicates(["setup", "defense", "skipped"])
    return [
        f"{row['setup']} / {row['defense']}" + _by(cells, row) + f": {row['skipped'].removeprefix(PREFIX)}"
        for _, row in rows.iterrows()
    ]


def _by(cells: pd.DataFrame, row: pd.Series) -> str:
    """Name the attack where only that one failed, and not the run."""
    same = cells[(cells["setup"] == row["setup"]) & (cells["defense"] == row["defense"])]
    attacks = dict.fromkeys(same["attack"][same["skipped"] == row["skipped"]])
    return f" / {row['attack']}" if len(attacks) == 1 < same["attack"].nunique() else ""


def _notes(folder: str | Path) -> list[Path]:
    return sorted(Path(folder).rglob("*.json"))


def _read(note: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(note.read_text())
    return content


def _sentence(error: Exception) -> str:
    """One line, to stand in a table."""
    text = " ".join(str(error).split())
    if isinstance(error, InputError):
        return text
    return f"{type(error).__name__}: {text}".removesuffix(": ")


def _print(error: Exception) -> None:
    import traceback

    if isinstance(error, InputError):
        print(f"error: {error}", file=sys.stderr)
    else:
        traceback.print_exception(error)
