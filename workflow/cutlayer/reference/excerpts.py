"""Columns of a published table side by side in a document, a line for each scheme and a column for each setup.

    [//]: # (any attack leak AUC mean, kept of arena adaptive on criteo_passive, avazu_passive)
    ...
    [//]: # (end of excerpt)

`make docs` writes what is between, from the table in reference/; the scheme with the least first numbers comes first.
"""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from cutlayer.core.errors import InputError
from cutlayer.ledger import names

from . import published

PLACE = re.compile(
    r"(?P<start>^\[//\]: # \((?P<columns>[\w ,]+) of (?P<paper>\w+) (?P<exhibit>\w+) on (?P<setups>[\w,\s]+)\)\n)"
    r".*?(?P<end>^\[//\]: # \(end of excerpt\)$)",
    flags=re.S | re.M,
)
NUMBER = re.compile(r"-?\d+\.\d+")


def filled(text: str, reference: Path) -> str:
    """A document with its excerpts as the exhibits of a folder like reference/ have them."""
    return PLACE.sub(lambda place: place["start"] + _excerpt(place, reference) + place["end"], text)


def _excerpt(place: re.Match[str], reference: Path) -> str:
    file = reference / "exhibits" / place["paper"] / f"{place['exhibit']}.md"
    table, setups = _table(file), _names(place["setups"])
    asked = table[_asked(place, table)].map(lambda cell: cell.split("; ")[0] or "-")
    cells = asked.apply(", ".join, axis=1).set_axis(pd.MultiIndex.from_frame(table[["scheme", "setup"]]))
    rows = cells.unstack(sort=False).reindex(columns=setups).dropna()
    rows = rows.loc[rows.map(_first).mean(axis=1).sort_values(kind="stable").index]
    titles = _titles(file.with_suffix(".csv"))
    lines = [f"| defense | {' | '.join(titles[setup] for setup in setups)} |", f"|---|{'---|' * len(setups)}"]
    lines += [f"| {scheme} | {' | '.join(row)} |" for scheme, row in zip(rows.index, rows.to_numpy(), strict=True)]
    return "\n".join(["", *lines, "", ""])


def _asked(place: re.Match[str], table: pd.DataFrame) -> list[str]:
    asked = _names(place["columns"])
    for name in asked:
        if name not in table:
            raise InputError(f"excerpts.{name}", "is no column of this table", f"one of {', '.join(map(str, table))}")
    return asked


def _table(file: Path) -> pd.DataFrame:
    head, *body = published.written(file.read_text(encoding="utf-8"))
    return pd.DataFrame(body, columns=head)


def _titles(file: Path) -> dict[str, str]:
    cells = pd.read_csv(file, keep_default_na=False)[["setup", "dataset", "provenance"]].drop_duplicates()
    return {own[0]: names.with_provenance(*own) for own in cells.itertuples(index=False, name=None)}


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _first(cell: str) -> float:
    found = NUMBER.match(cell)
    return float(found[0]) if found else float("nan")
