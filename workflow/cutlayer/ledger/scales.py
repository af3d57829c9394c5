"""Evidence of several sizes: which of the cells that were ever published count.

The largest scale counts at which all is there that is compared: a row of the ledger is judged within each scale by
itself and kept of the largest, a row of a table is of one scale, and so is all that a figure shows of a setup. Smaller
comes before larger, as params.yaml has the scales.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from .evidence import SKIPPED, Found, per_setup

PRESENT = "present"  # of a row of the ledger: of how much of what it asks for there are cells
SHOWN = ["defense", "attack", "metric"]
Row = dict[str, Any]


def of(cells: Mapping[str, pd.DataFrame], scale: str) -> dict[str, pd.DataFrame]:
    """The cells of one scale, of each exhibit that has any."""
    found = {name: table[table["scale"] == scale].reset_index(drop=True) for name, table in cells.items()}
    return {name: table for name, table in found.items() if len(table)}


def among(tables: Iterable[pd.DataFrame], order: Sequence[str]) -> list[str]:
    """The scales that tables have cells of, the largest last."""
    there = {scale for table in tables for scale in table["scale"].unique()}
    return [scale for scale in order if scale in there]


def largest(rows: Sequence[Mapping[str, Row]]) -> list[Row]:
    """The rows of an entry, by setup, at the largest scale with results; `rows` are by scale, the largest last.

    Where no scale has a result it is the first row, which has the reason.
    """
    found = []
    for setup in dict.fromkeys(setup for own in rows for setup in own):
        own = [one[setup] for one in rows if setup in one]
        most = max(row[PRESENT] for row in own)
        found.append([row for row in own if row[PRESENT] == most][-1 if most else 0])
    return found


def largest_of(check: Mapping[str, Any], cells: Mapping[str, pd.DataFrame], order: Sequence[str]) -> list[Found]:
    """A check's finding in each setup, at the largest scale that has all of its cells."""
    found: dict[str, Found] = {}
    for scale in among(cells.values(), order):
        for one in per_setup(check, of(cells, scale), "not run at this scale"):
            setup = one.facts["setup"]
            if setup not in found or one.lacks != SKIPPED:
                found[setup] = one
    return [*found.values()]


def shown(table: pd.DataFrame, draw: Mapping[str, Any], order: Sequence[str]) -> pd.DataFrame:
    """The cells that an exhibit shows: of each setup, or of each defense where a table has a row for it, one scale.

    It is the one with numbers of most defenses, attacks and metrics, and of several such the largest.
    """
    there = among([table], order)
    if len(there) < 2:
        return table
    apart = {"defense", "scheme"} & {*draw.get("rows", "").replace(" ", "").split(",")}
    kept = []
    for _, own in table.groupby(["setup", "defense"] if apart else ["setup"], sort=False):
        kinds = own[own["skipped"] == ""].groupby("scale")[SHOWN].apply(lambda one: len(one.drop_duplicates()))
        best = max(own["scale"].unique(), key=lambda scale: (kinds.get(scale, 0), there.index(scale)))
        kept.append(own[own["scale"] == best])
    return pd.concat(kept, ignore_index=True)
