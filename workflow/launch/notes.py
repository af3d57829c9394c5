"""Notes of methods that failed under `--keep-going`, so that the next workflow tries them again.

A note counts the attempts, and the count is among the job's parameters: that is what reruns the job.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cutlayer.core.failures import PREFIX
from cutlayer.core.files import replacing

NOTES = Path("results/failed")  # from the folder of the workflow


def record(note: str | Path, attempt: int, reasons: list[str]) -> None:
    """Note that this attempt failed, or no longer did; nothing is noted of what never failed."""
    if reasons or Path(note).exists():
        with replacing(note) as temporary:
            temporary.write_text(
                json.dumps({"attempt": attempt, "reasons": list(dict.fromkeys(reasons))}) + "\n", encoding="utf-8"
            )


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


def _notes(folder: str | Path) -> list[Path]:
    return sorted(Path(folder).rglob("*.json"))


def _read(note: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(note.read_text(encoding="utf-8"))
    return content
