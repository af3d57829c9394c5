"""Every published number says where its paper prints it, and in which version of the paper."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

PAPERS = sorted((Path(__file__).parents[2] / "workflow/papers").glob("*/published.csv"))
COLUMNS = ["paper", "item", "dataset", "target", "method", "metric", "value", "place", "version", "note"]
FREE = {"note"}  # may be blank


def wrong(text: str, paper: str) -> Iterator[str]:
    """What is wrong with a published.csv."""
    table = csv.DictReader(io.StringIO(text))
    rows = list(table)
    if table.fieldnames != COLUMNS:
        yield f"columns {table.fieldnames}"
    cells = [(row["place"], row["metric"]) for row in rows if ", column " in row["place"]]
    yield from (f"{cell} twice" for cell in sorted({cell for cell in cells if cells.count(cell) > 1}))
    for number, row in enumerate(rows, 2):
        yield from (f"line {number}: no {name}" for name in COLUMNS if name not in FREE and not row[name].strip())
        if row["paper"] != paper:
            yield f"line {number}: of {row['paper']}"
    if len({row["version"] for row in rows}) > 1:
        yield "numbers of several versions"


@pytest.mark.parametrize("file", PAPERS, ids=[file.parent.name for file in PAPERS])
def test_a_number_says_where_it_is_printed_and_in_which_version(file: Path) -> None:
    assert list(wrong(file.read_text(encoding="utf-8"), file.parent.name)) == []


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("a,table1,wine,-,none,mse,0.1,,v1,", ["line 2: no place"]),
        ('a,table1,wine,-,none,mse,0.1,"Table 1", ,', ["line 2: no version"]),
        ("b,table1,wine,-,none,mse,0.1,Table 1,v1,", ["line 2: of b"]),
        (
            "a,table1,wine,-,none,mse,0.1,Table 1,v1,\na,table2,wine,-,none,mse,0.1,T,v2,",
            ["numbers of several versions"],
        ),
        (2 * 'a,table1,wine,-,none,mse,0.1,"Table 1, column x",v1,\n', ["('Table 1, column x', 'mse') twice"]),
        ("a,table1,wine,-,none,mse,0.1,Table 1,v1,", []),
    ],
)
def test_a_blank_is_refused(row: str, told: list[str]) -> None:
    assert list(wrong(f"{','.join(COLUMNS)}\n{row}", "a")) == told
