"""Published numbers, matched with the cells that they are compared with, for ledger and exhibits.

Of each number paper.yaml says under `numbers` which row of published.csv it is, and the check that selects ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cutlayer.core.errors import InputError
from cutlayer.plan import check_lines

from .cells import axis

UNITS = {"percent": 100.0}
Row = dict[str, Any]
Entry = Mapping[str, Any]
KEYS = ["setup", "defense", "setting", "attack", "metric"]
COLUMNS = [*KEYS, "place", "target", "published", "decimals"]


def read(path: str | Path) -> pd.DataFrame:
    """Table of published.csv, with a column `decimals`: the number of published decimals."""
    text = pd.read_csv(path, dtype={"value": str})
    decimals = text["value"].str.partition(".")[2].str.len()
    return text.assign(value=text["value"].astype(float), decimals=decimals)


def numbers(entries: Sequence[Entry], published: pd.DataFrame) -> Iterator[tuple[Row, Entry]]:
    """Published numbers that an entry of paper.yaml selects, in our unit, with that entry."""
    rows = [{str(key): value for key, value in row.items()} for row in published.to_dict("records")]
    for entry in entries:
        wanted = entry["published"].items()
        found = [row for row in rows if all(row[column] == value for column, value in wanted)]
        if not found:
            raise InputError("published.csv", f"has no row with {dict(wanted)}", "see its columns")
        unit = UNITS.get(entry.get("unit", ""), 1.0)
        yield from ((row | {"value": row["value"] / unit}, entry) for row in found)


def on(dataset: str, check: Mapping[str, Any], cells: pd.DataFrame) -> pd.DataFrame:
    """Cells of the dataset of a published number; of all datasets if it is for all, or if its check names setups."""
    return cells if dataset == "all" or "setups" in check else cells[cells["dataset"] == dataset]


def published_cells(cells: pd.DataFrame, entries: Sequence[Entry], published: pd.DataFrame) -> pd.DataFrame:
    """Published numbers of single cells of an exhibit, one in a row (COLUMNS).

    `cells` is what `cells.summarize` returns. A number that is for any setting of a defense has no setting and no
    place. `target` is what the paper prints it for: one cell of ours may be several of the paper's.
    """
    along = axis(cells.drop(columns=["paper", "exhibit", "scale"]))
    rows = cells[cells["skipped"] == ""].to_dict("records")
    found: list[Row] = []
    for number, entry in numbers([entry for entry in entries if "check" in entry], published):
        decimals = int(number.get("decimals", 2)) + (2 if entry.get("unit") == "percent" else 0)
        facts = {"target": number["target"], "published": number["value"], "decimals": decimals, "item": number["item"]}
        selected = [
            {key: part for key, part in check.items() if key not in ("sides", "exhibit")}
            for check in check_lines.of(entry)
        ]
        checks = [check for place, check in enumerate(selected) if check not in selected[:place]]
        hits = [hit for check in checks for hit in _hits(check, number["dataset"], rows)]
        found += [where | facts for hit in hits for where in _where(hit, along)]
    return pd.DataFrame(found, columns=[*COLUMNS, "item"])


def _hits(check: Entry, dataset: str, rows: Sequence[Mapping[Any, Any]]) -> Iterator[Sequence[Row]]:
    """Rows that a check selects in each setup, if it has one selection and no place."""
    if check["statistic"] != "value" or "at" in check or not isinstance(check["left"], Mapping):
        return
    wanted = {key: value if isinstance(value, list) else [value] for key, value in check["left"].items()}
    if "setups" in check:
        wanted["setup"] = check["setups"]
    elif dataset != "all":
        wanted["dataset"] = [dataset]
    hits: dict[str, list[Row]] = {}
    for row in rows:
        if all(row[key] in values for key, values in wanted.items()):
            hits.setdefault(row["setup"], []).append({str(key): value for key, value in row.items()})
    yield from hits.values()


def _where(hit: Sequence[Row], along: str) -> Iterator[Row]:
    """The selected cell, or the defense if all of its settings are selected; None for other selections of several."""
    own = {key: hit[0][key] for key in KEYS}
    if len(hit) == 1:
        yield own | {"place": hit[0][along]}
    elif len({(row["defense"], row["attack"], row["metric"]) for row in hit}) == 1:
        yield own | {"setting": None, "place": None}
