"""A paper's printed numbers, and the cells that each is held against: one mapping for ledger and exhibits.

Of each number paper.yaml says under `numbers` which row of published.csv it is, and the check that selects ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cutlayer.core.errors import InputError

from .cells import axis

UNITS = {"percent": 100.0}
Row = dict[str, Any]
Entry = Mapping[str, Any]
KEYS = ["setup", "defense", "setting", "attack", "metric"]
COLUMNS = [*KEYS, "place", "target", "published", "decimals"]


def read(path: str | Path) -> pd.DataFrame:
    """Published.csv, with a column `decimals`: how many the paper prints."""
    text = pd.read_csv(path, dtype={"value": str})
    decimals = text["value"].str.partition(".")[2].str.len()
    return text.assign(value=text["value"].astype(float), decimals=decimals)


def numbers(entries: Sequence[Entry], published: pd.DataFrame) -> Iterator[tuple[Row, Entry]]:
    """Each printed number that an entry of paper.yaml means, in our unit, with that entry."""
    for entry in entries:
        rows = published
        for column, value in entry["published"].items():
            rows = rows[rows[column] == value]
        if rows.empty:
            raise InputError("published.csv", f"has no row with {dict(entry['published'])}", "see its columns")
        unit = UNITS.get(entry.get("unit", ""), 1.0)
        for row in rows.astype(object).to_dict("records"):
            yield {**{str(key): value for key, value in row.items()}, "value": row["value"] / unit}, entry


def on(dataset: str, check: Mapping[str, Any], cells: pd.DataFrame) -> pd.DataFrame:
    """The cells of the dataset that a number is printed for; of all, where it is for all or its check names setups."""
    return cells if dataset == "all" or "setups" in check else cells[cells["dataset"] == dataset]


def beside(cells: pd.DataFrame, entries: Sequence[Entry], published: pd.DataFrame) -> pd.DataFrame:
    """The printed numbers that are single cells of an exhibit, one a row: COLUMNS.

    `cells` is what `cells.summarize` returns. A number that is for any setting of a defense has no setting and no
    place. `target` is what the paper prints it for: one cell of ours may be several of the paper's.
    """
    found: list[Row] = []
    for number, entry in numbers([entry for entry in entries if "check" in entry], published):
        check = entry["check"]
        if check["statistic"] != "value" or "at" in check or not isinstance(check["left"], Mapping):
            continue
        own = on(number["dataset"], check, cells[cells["skipped"] == ""])
        for column, value in check["left"].items():
            own = own[own[column].isin(value if isinstance(value, list) else [value])]
        decimals = int(number.get("decimals", 2)) + (2 if entry.get("unit") == "percent" else 0)
        said = {"target": number["target"], "published": number["value"], "decimals": decimals, "item": number["item"]}
        for setup, hit in own.groupby("setup", sort=False):
            if setup in check.get("setups", [setup]):
                found += [where | said for where in _where(hit)]
    return pd.DataFrame(found, columns=[*COLUMNS, "item"])


def _where(hit: pd.DataFrame) -> Iterator[Row]:
    """The one cell that is selected, or the defense if it is all of its settings; nothing of other kinds of several."""
    first = hit.iloc[0]
    along = axis(hit.drop(columns=["paper", "exhibit", "scale"]))
    if len(hit) == 1:
        yield {**first[KEYS], "place": first[along]}
    elif len(hit[["defense", "attack", "metric"]].drop_duplicates()) == 1:
        yield {**first[KEYS], "setting": None, "place": None}
