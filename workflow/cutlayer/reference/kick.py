"""`make kick`: what a small run found beside the reference; its last word is `agrees` or `differs`.

The run is of the chebyshev paper at scale quick, on the datasets that scikit-learn bundles. The rows are those of
`ITEMS`, which solvers, trainings or draws decide. A row agrees by the rule of `make compare`: its 95% interval overlaps
that of the reference, which has more windows, predictions and seeds.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from cutlayer.core.errors import InputError
from cutlayer.ledger.readable import decimals, interval, number

from . import compare, published

PAPER = "chebyshev"
SETUPS = ("breast_cancer", "wine", "digits")
ITEMS = ("theorem1_rcc2", "rcc1_near_rcc2", "centers_beat_literature")
KEY = ["item", "setup"]  # what identifies a row


def rows(claims: Path) -> pd.DataFrame:
    """The rows of a claims.csv that the test is of."""
    if not claims.exists():
        raise InputError("kick.results", f"there is no {claims}", "`make kick` writes it")
    table = compare.read(claims)
    mine = (table["paper"] == PAPER) & table["setup"].isin(SETUPS) & table["item"].isin(ITEMS)
    return table.loc[mine, [*KEY, "ours", "low", "high", "verdict"]].reset_index(drop=True)


def beside(found: pd.DataFrame, reference: pd.DataFrame) -> pd.DataFrame:
    """Each row of the reference with what was found of it, and whether that agrees."""
    own, theirs = compare.SIDES
    both = reference.merge(found, on=KEY, how="left", suffixes=(theirs, own))
    return both.assign(agrees=both[f"ours{own}"].notna() & ~compare.differing(both))


def report(table: pd.DataFrame) -> str:
    """The table of `beside` as text: a line for each row, then the word."""
    shown = {"claim": table["item"], "data": table["setup"]}
    for name, side in zip(("found", "reference"), compare.SIDES, strict=True):
        columns = (table[f"{column}{side}"] for column in ("ours", "low", "high", "verdict"))
        shown[name] = pd.Series([_text(*row) for row in zip(*columns, strict=True)])
    shown["agrees"] = table["agrees"].map({True: "yes", False: "no"})
    text = pd.DataFrame(shown).to_markdown(index=False, disable_numparse=True)
    count, word = table["agrees"].sum(), "agrees" if table["agrees"].all() else "differs"
    return f"{text}\n\n{count} of {len(table)} rows agree.\n{word}"


def _text(ours: float, low: float, high: float, verdict: str) -> str:
    if pd.isna(ours):
        return "nothing"
    reach = interval(low, high)
    return f"{number(ours, decimals(low, high))}{f' ({reach})' if reach else ''}, {verdict}"


def main() -> int:
    """Print the report; the exit status is 1 if something differs."""
    table = beside(rows(Path("results/claims.csv")), rows(published.FOLDER / "claims.csv"))
    print(report(table))
    return int(not table["agrees"].all())


if __name__ == "__main__":
    try:
        sys.exit(main())
    except InputError as error:
        sys.exit(f"error: {error}")
