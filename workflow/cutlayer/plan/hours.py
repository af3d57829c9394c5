"""Hours: what a scale takes of two cores, as the benchmark `forecast` estimated it."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

ALL = "all"
Hours = Mapping[str, Mapping[str, float]]  # scale -> paper, or ALL of them -> hours


def read(path: Path) -> dict[str, dict[str, float]]:
    """The hours in a csv with columns scale, paper, hours; none where there is no such file."""
    found: dict[str, dict[str, float]] = {}
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                found.setdefault(row["scale"], {})[row["paper"]] = float(row["hours"])
    return found


def told(hours: Hours, scale: str, paper: str = ALL) -> str:
    """In words, e.g. "an estimated 6.5 hours on two cores"; empty where nothing is known."""
    known = hours.get(scale, {}).get(paper)
    if known is None:
        return ""
    return f"an estimated {f'{known:,.1f} hours' if known >= 1 else f'{60 * known:.0f} minutes'} on two cores"
