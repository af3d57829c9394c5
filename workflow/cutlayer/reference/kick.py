"""`make kick`: what a small run found beside what is expected; its last word is `agrees` or `differs`.

The run is of the chebyshev paper at scale quick, on two datasets that scikit-learn bundles. A row agrees if its
verdict is the expected one, and its interval or number comes within `NEAR` of that expected: all are errors and
shares between 0 and 1, and processors round differently.

`python -m cutlayer.reference.kick expect`, after `make kick`, makes what was found what is expected.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from cutlayer.core.errors import InputError
from cutlayer.ledger.readable import decimals, interval, number

from . import compare

EXPECTED = Path("tests/golden/kick.csv")
KEY = ["item", "setup"]  # what identifies a row
COLUMNS = [*KEY, "ours", "low", "high", "verdict"]
NEAR = 1e-3


def rows(claims: Path) -> pd.DataFrame:
    """The rows of a claims.csv that have a number and a setup: `COLUMNS`."""
    if not claims.exists():
        raise InputError("kick.results", f"there is no {claims}", "`make kick` writes it")
    table = compare.read(claims)
    return table.loc[table["ours"].notna() & (table["setup"] != ""), COLUMNS].reset_index(drop=True)


def beside(expected: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """Each expected row with what was found of it, and whether that agrees; a row that is only found does not count."""
    both = expected.merge(found, on=KEY, how="left", suffixes=("_expected", "_found"))
    low, high = (both[[f"{end}_expected", f"{end}_found"]] for end in ("low", "high"))
    near = low.max(axis=1, skipna=False) - high.min(axis=1, skipna=False) <= NEAR  # never if nothing was found
    return both.assign(agrees=near & (both["verdict_expected"] == both["verdict_found"]))


def report(table: pd.DataFrame) -> str:
    """The table of `beside` as text: a line for each row, then the word."""
    shown = {"claim": table["item"], "data": table["setup"]}
    for side in ("expected", "found"):
        columns = (table[f"{name}_{side}"] for name in ("ours", "low", "high", "verdict"))
        shown[side] = pd.Series([_text(*row) for row in zip(*columns, strict=True)])
    shown["agrees"] = table["agrees"].map({True: "yes", False: "no"})
    text = pd.DataFrame(shown).to_markdown(index=False, disable_numparse=True)
    count, word = table["agrees"].sum(), "agrees" if table["agrees"].all() else "differs"
    return f"{text}\n\n{count} of {len(table)} rows agree.\n{word}"


def _text(ours: float, low: float, high: float, verdict: str) -> str:
    if pd.isna(ours):
        return "nothing"
    reach = interval(low, high)
    return f"{number(ours, decimals(low, high))}{f' ({reach})' if reach else ''}, {verdict}"


def main(arguments: Sequence[str]) -> int:
    """Print the report; the exit status is 1 if something differs. With `expect`, write what is expected."""
    found = rows(Path("results/claims.csv"))
    if [*arguments] == ["expect"]:
        found.to_csv(EXPECTED, index=False)
        return 0
    table = beside(pd.read_csv(EXPECTED), found)
    print(report(table))
    return int(not table["agrees"].all())


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except InputError as error:
        sys.exit(f"error: {error}")
