"""`make compare`: the rows of results/claims.csv that differ from the reference by more than both 95% intervals.

A row whose intervals overlap does not differ. A number without an interval is compared as it is. Rows that have a
number on one side only are counted apart.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from cutlayer.core.errors import InputError
from cutlayer.ledger.readable import readable

from . import published

KEY = ["paper", "kind", "item", "exhibit", "statement", "setup", "dataset"]  # what identifies a row
NUMBERS = ["published", "ours", "low", "high", "difference"]
RELATIVE, ABSOLUTE = 1e-9, 1e-9  # files have ten digits, and zeros are rounded
SIDES = ("_yours", "_reference")


def compare(own: Path, reference: Path) -> str:
    """Report on the differences of two claims.csv."""
    if not reference.exists():
        raise InputError("compare.reference", f"there is no {reference}", "`make publish` writes it")
    if not own.exists():
        raise InputError("compare.results", f"there is no {own}", "`make results` writes it")
    tables = [read(path) for path in (own, reference)]
    both = tables[0].merge(tables[1], on=KEY, suffixes=SIDES)
    found = both[differing(both)]
    lines = [_scales(both, *tables)]
    if not found.empty:
        lines += ["", str(_shown(found).to_markdown(index=False, disable_numparse=True)), ""]
    alone = [len(table) - len(both) for table in tables]
    counts = (
        f"{len(both)} rows compared, {len(found)} differ by more than their intervals, "
        f"{int(one_sided(both).sum())} have a number on one side only"
    )
    return "\n".join([*lines, f"{counts}; {alone[0]} only in yours, {alone[1]} only in the reference."])


def differing(both: pd.DataFrame) -> pd.Series:
    """Mask of the rows whose intervals do not overlap; a missing interval is the number itself, without one: False."""
    ends = {
        end: pd.DataFrame({side: both[end + side].fillna(both["ours" + side]) for side in SIDES})
        for end in ("low", "high")
    }
    low, high = ends["low"].max(axis=1, skipna=False), ends["high"].min(axis=1, skipna=False)
    return low - high > ABSOLUTE + RELATIVE * np.maximum(low.abs(), high.abs())


def one_sided(both: pd.DataFrame) -> pd.Series:
    """Mask of the rows of which only one side has a number."""
    return both["ours_yours"].isna() != both["ours_reference"].isna()


def read(path: Path) -> pd.DataFrame:
    """A claims.csv with numbers as such; raise InputError if it has a row twice."""
    table = pd.read_csv(path, keep_default_na=False, na_values={name: [""] for name in NUMBERS})
    doubled = table[table.duplicated(KEY)]
    if not doubled.empty:
        raise InputError(
            f"file.{path}", f"has a row twice: {', '.join(map(str, doubled[KEY].iloc[0]))}", "expected one"
        )
    return table


def _scales(both: pd.DataFrame, own: pd.DataFrame, reference: pd.DataFrame) -> str:
    """Sentence with the scales of the two runs, and the number of rows whose sizes or data differ."""
    names = [" and ".join(dict.fromkeys(table["scale"])) for table in (own, reference)]
    sizes = int((both["size_yours"] != both["size_reference"]).sum())
    origins = int((both["provenance_yours"] != both["provenance_reference"]).sum())
    text = f"Yours is at scale {names[0]}, the reference at scale {names[1]}."
    if names[0] != names[1]:
        text += " Their sizes differ, so rows may differ that are both right."
    elif sizes:
        text += f" The sizes of {sizes} rows differ."
    return text + (f" The data of {origins} rows are of another provenance." if origins else "")


def _shown(found: pd.DataFrame) -> pd.DataFrame:
    """The rows, formatted."""
    what = found["item"].where(found["kind"] != "number", found["item"] + ": " + found["statement"])
    table = {"paper": found["paper"], "what": what, "setup": found["setup"]}
    for side in SIDES:
        columns = {name: found[name + side] for name in ("ours", "low", "high", "published", "difference")}
        one, name = readable(pd.DataFrame(columns)), side.removeprefix("_")
        table |= {
            name: one["ours"],
            f"interval of {name}": one["interval"],
            f"verdict of {name}": found[f"verdict{side}"],
        }
    return pd.DataFrame(table)


if __name__ == "__main__":
    try:
        print(compare(Path("results/claims.csv"), published.FOLDER / "claims.csv"))
    except InputError as error:
        sys.exit(f"error: {error}")
