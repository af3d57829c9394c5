"""Merge: the cells that a finished run adds to those that were published of an exhibit.

A cell is replaced by one of the same scale, setup, defense and attack, of at least as many seeds; one of another scale
comes beside it, and which of them counts is decided where they are read. Generated data never stand beside others: what
is real takes their place, and they do not take that of what is real. A cell that is as it was stays of the run that
measured it. All is text, so that what was measured stays as it was written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from cutlayer.ledger.across import WEAKER
from cutlayer.ledger.cells import axis
from cutlayer.ledger.verdicts import STAND_IN

CELL = ["scale", "setup", "defense", "attack"]
RUN = "run"  # which row of runs.csv a cell is of


def merged(old: pd.DataFrame, new: pd.DataFrame, exhibit: Mapping[str, Any], order: Sequence[str]) -> pd.DataFrame:
    """The cells of an exhibit with the new ones, without those of what it no longer shows; `order` is of scales.

    Setups are in the order of the exhibit, whichever run came first; new cells of a defense are where old ones were.
    """
    if old.empty or axis(old) != axis(new):
        return new
    own = [name for name in new.columns if name not in ("scale", RUN)]
    columns = [*own, *(name for name in old.columns if name not in new.columns), "scale", RUN]
    old, new = (table.reindex(columns=columns, fill_value="") for table in (old, new))
    old = old[~_gone(old, exhibit)]
    real = new.loc[new["provenance"] != STAND_IN, "setup"].unique()
    old = old[~((old["provenance"] == STAND_IN) & old["setup"].isin(real)) & ~_applies(old, new)]
    new = new[~_same(old, new) & ~of_fewer(old, new)]
    old = old.assign(place=range(len(old)))
    first = old.drop_duplicates(CELL[:-1])[[*CELL[:-1], "place"]]
    new = new.merge(first, "left", CELL[:-1])
    found = pd.concat([old[~_keys(old).isin(_keys(new))], new], ignore_index=True)
    scales, setups = ({name: place for place, name in enumerate(names)} for names in (order, exhibit["setups"]))
    places = pd.DataFrame({"scale": found["scale"].map(scales), "setup": found["setup"].map(setups)})
    places = places.assign(place=found.pop("place")).sort_values(["scale", "setup", "place"], kind="stable")
    return found.loc[places.index].reset_index(drop=True)


def weaker(table: pd.DataFrame, published: Mapping[str, str]) -> pd.Series:
    """Which cells are of generated data, or of a sample, where more of the dataset is published (its provenance)."""
    known = [WEAKER.index(published.get(dataset, WEAKER[-1])) for dataset in table["dataset"]]
    return table["provenance"].map(WEAKER.index) > known


def of_fewer(old: pd.DataFrame, new: pd.DataFrame) -> pd.Series:
    """Which cells have numbers of fewer seeds than there are already."""
    known, own = (table[table["skipped"] == ""].groupby(CELL)["seed"].nunique() for table in (old, new))
    less = [own.get(key, 0) < known.get(key, 0) for key in _keys(new)]
    return pd.Series(less, index=new.index, dtype=bool)


def _keys(table: pd.DataFrame) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(table[CELL])


def _gone(table: pd.DataFrame, exhibit: Mapping[str, Any]) -> pd.Series:
    """Which numbers are of setups, defenses or attacks that the exhibit has no more."""
    attacks = exhibit["worst"]["among"] if "worst" in exhibit else exhibit["attacks"]
    there = table["setup"].isin([*exhibit["setups"], ""]) & table["defense"].isin([*exhibit["defenses"], ""])
    return (table["skipped"] == "") & ~(there & table["attack"].isin([*attacks, ""]))


def _applies(old: pd.DataFrame, new: pd.DataFrame) -> pd.Series:
    """Which reasons are of attacks that apply to no defense of a setup, and have numbers there by now."""
    case = ["scale", "setup", "attack"]
    known = pd.MultiIndex.from_frame(new.loc[new["skipped"] == "", case])
    reason = (old["skipped"] != "") & (old["defense"] == "") & (old["attack"] != "")
    return reason & pd.MultiIndex.from_frame(old[case]).isin(known)


def _same(old: pd.DataFrame, new: pd.DataFrame) -> pd.Series:
    """Which cells are there as they are, whichever run they are of."""
    known, own = (_contents(table) for table in (old, new))
    return pd.Series([known.get(key) == own[key] for key in _keys(new)], index=new.index, dtype=bool)


def _contents(table: pd.DataFrame) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
    rows: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for key, row in zip(_keys(table), table.drop(columns=RUN).itertuples(index=False, name=None), strict=True):
        rows.setdefault(key, []).append(row)
    return {key: sorted(own) for key, own in rows.items()}
