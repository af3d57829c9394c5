"""Notes of methods that failed under `--keep-going`, so that the next run tries them again.

A note counts the attempts, and the number of the next one is among the job's parameters: that is what reruns the job.
Only the job itself writes its note, so that a failure is known until the job has run again.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Container
from pathlib import Path
from typing import Any

from cutlayer.core.failures import PREFIX
from cutlayer.core.files import replacing

NOTES = Path("results/failed")  # from the folder of the workflow


def record(note: str | Path, attempt: int, reasons: list[str]) -> None:
    """Record that this attempt failed, or no longer did; a job that never failed has no note."""
    if reasons or Path(note).exists():
        with replacing(note) as temporary:
            temporary.write_text(
                json.dumps({"attempt": attempt, "reasons": list(dict.fromkeys(reasons))}) + "\n", encoding="utf-8"
            )


@functools.cache  # what a job writes at its end is about the next run
def attempt(note: str | Path, touch: bool = False) -> int:
    """Number of this attempt: one more than that of a failed one, or the same if files are only touched."""
    if not Path(note).exists():
        return 0
    content = _read(Path(note))
    return int(content["attempt"]) + bool(content["reasons"] and not touch)


def found(names: Container[str], folder: str | Path = NOTES) -> list[str]:
    """Sentences on what failed in the last attempt, for the given setups, defenses and attacks."""
    failed = [(note.relative_to(folder).with_suffix(""), _read(note)["reasons"]) for note in _notes(folder)]
    return [
        f"{job}: {reason.removeprefix(PREFIX)}"
        for job, reasons in failed
        if all(part.partition(".")[0] in names for part in job.parts[1:])
        for reason in reasons
    ]


def _notes(folder: str | Path) -> list[Path]:
    return sorted(Path(folder).rglob("[!.]*.json"))


def _read(note: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(note.read_text(encoding="utf-8"))
    return content
