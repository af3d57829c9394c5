"""How many hours a scale takes, in all and for each paper alone: what site and ledger say of larger scales.

Run `python workflow/benchmarks/forecast.py reference [paper ...]`, after `make data`, with nothing else on the machine;
it writes the estimates of `make plan` beside this file, as a page and as a table. Other scales stay as they are there.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from machine import machine
from table import markdown, write

from cutlayer.forecast.forecast import Forecast, forecast
from cutlayer.forecast.report import CORES
from cutlayer.plan.hours import ALL

FILE = Path(__file__).with_suffix(".csv")
COLUMNS = ["scale", "paper", "jobs", "hours"]


def row(scale: str, paper: str, found: Forecast) -> dict[str, str]:
    """What a paper alone takes, of two cores."""
    hours = sum(one.seconds for one in found.made) / 3600 / CORES
    return dict(zip(COLUMNS, (scale, paper, str(len(found.made)), f"{hours:.3f}"), strict=True))


def main(scales: list[str]) -> None:
    """Estimate, write table and page."""
    rows = [*csv.DictReader(FILE.open(newline="", encoding="utf-8"))] if FILE.exists() else []
    rows = [own for own in rows if own["scale"] not in scales]
    said = []
    for scale in scales:
        whole = forecast([f"scale={scale}"])
        said += [f"## Scale {scale}", whole.text]
        rows.append(row(scale, ALL, whole))
        rows += [row(scale, paper, forecast([f"scale={scale}", paper])) for paper in whole.plan.papers]
    with FILE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    table = markdown(COLUMNS, [[own[name] for name in COLUMNS] for own in rows], "ll>>")
    shared = "Papers share runs, so that all take less than the sum. Hours are of two cores that do nothing else."
    write(__file__, "How many hours a scale takes", machine("torch"), shared, table, *said)


if __name__ == "__main__":
    main(sys.argv[1:])
