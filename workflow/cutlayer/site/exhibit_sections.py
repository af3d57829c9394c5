"""Section of an exhibit on its paper's page: our numbers beside the published ones, provenance, command to make it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from PIL import Image

from cutlayer.core import failed_cells
from cutlayer.exhibits.base import footer
from cutlayer.ledger import names
from cutlayer.reference import published

from . import hover
from .inputs import Inputs

NEWER = " This text is newer than the run: what it names and is not shown was not run yet."
NUMBER = re.compile(r"(\S+)(?: (± \S+|\(\S+ to \S+\)))?")  # and its interval
NUMERIC = re.compile(r"[-–]?\d|–|failed|$")  # how a cell of numbers begins
DEFAULT = "quick"  # the scale that a command need not name
Row = Mapping[str, Any]


def sections(given: Inputs, paper: str, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Sections of a paper's exhibits, in the order of the paper."""
    return [_section(given, paper, name, rows) for name in given.papers[paper]["exhibits"]]


def _section(given: Inputs, paper: str, name: str, rows: Sequence[Row]) -> dict[str, Any]:
    exhibit = given.papers[paper]["exhibits"][name]
    folder = given.results / "exhibits" / paper
    table = pd.read_csv(folder / f"{name}.csv", keep_default_na=False)
    kind = published.kinds_of(exhibit)[-1]
    largest = max(table["scale"].unique(), key=given.scales.index)
    scale = "" if largest == DEFAULT else f" --config scale={largest}"
    own = [row for row in rows if row["exhibit"] == name]
    return {
        "name": name,
        "title": exhibit["title"],
        "caption": exhibit["caption"] + (NEWER if published.is_newer(exhibit, table) else ""),
        "numbers": [row for row in own if row["kind"] == "number" or row["published"]],
        "claims": [row for row in own if row["kind"] != "number" and not row["published"]],
        "table": _table(folder / f"{name}.md", exhibit["draw"], table) if kind == "md" else {},
        "size": Image.open(folder / f"{name}.png").size if kind == "png" else (),
        "hover": hover.points(given, paper, name),
        "from": footer(table.assign(n=pd.to_numeric(table["n"])), reasons=False, interval=""),
        "failed": failed_cells.listed(table),
        "command": f"snakemake --cores all results/exhibits/{paper}/{name}.{kind}{scale}",
    }


def _table(written: Path, draw: Mapping[str, Any], cells: pd.DataFrame) -> dict[str, Any]:
    """A table that was written as markdown: its columns, the first `named` of which name a row, lines, and notes.

    Names of setups have their titles; of a cell of numbers the interval and what stands below are apart.
    """
    pairs = cells[["setup", "dataset"]].drop_duplicates().itertuples(index=False, name=None)
    titles = {setup: names.of_setup(setup, dataset) for setup, dataset in pairs}
    text = written.read_text(encoding="utf-8")
    _, *lines = text.splitlines()  # the first is the title
    head, *body = published.written(text)
    rows = [name.strip() for name in draw.get("rows", "setup").split(",")]
    columns = [*rows, *head[len(rows) :]]
    return {
        "named": len(rows),
        "columns": [titles.get(name, name.replace("_", " ")) for name in columns],
        "numeric": [all(NUMERIC.match(line[i]) for line in body) for i in range(len(columns))],
        "lines": [
            [titles.get(line[0], line[0]), *line[1 : len(rows)], *map(_cell, line[len(rows) :])] for line in body
        ],
        "notes": [line for line in lines if line and not line.startswith("|")],
    }


def _cell(text: str) -> dict[str, Any]:
    """A cell's number, or two of them with a stroke between, its interval, and what is below."""
    first, *below = text.split("; ")
    sides = [NUMBER.fullmatch(side) for side in first.split(" / ")]
    if not all(sides):
        return {"number": first, "interval": "", "below": below}
    numbers, intervals = zip(*(side.groups("") for side in sides if side), strict=True)
    return {"number": " / ".join(numbers), "interval": " / ".join(filter(None, intervals)), "below": below}
