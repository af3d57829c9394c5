"""Updates the texts of paper.yaml in the reference run's verdicts; reasons may be written after a run, rules not.

All verdicts are given again, from the cells in reference/. If a number or a verdict is another one than in claims.csv,
a rule has changed since the run, and nothing is written: that is for `make judge`. `make docs` does this.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from cutlayer.core.errors import InputError
from cutlayer.ledger import cells
from cutlayer.plan.plan import Plan

from . import published, redrawn

WORDS = ["place", "statement", "rule", "why"]  # columns that nothing is decided by
NUMBERS = ["published", "tolerance", "ours", "low", "high", "difference", "p"]
EXPECTED = "expected the rules that judged it: run the paper again and `make publish`, or `make judge`"
RELATIVE, ABSOLUTE = 1e-7, 1e-9  # files have ten digits, and processors round differently


def renew(root: Path) -> None:
    """Write the words of today into claims.csv and ledger.md of the reference.

    Raises:
        InputError: a number or a verdict is no longer the one that was published.

    """
    folder = root / published.FOLDER
    if not published.runs(folder):
        return
    plan = of_reference(root)
    table = renewed(plan, folder)
    cells.write(table, folder / "claims.csv")
    redrawn.write_ledger(plan, table, folder)


def of_reference(root: Path) -> Plan:
    """Today's plan of the papers that are in the reference."""
    return redrawn.plan_of(root, published.runs(root / published.FOLDER))


def renewed(plan: Plan, folder: Path) -> pd.DataFrame:
    """The rows of claims.csv as they are there, with the words of today."""
    before = redrawn.read(folder / "claims.csv")
    after = redrawn.judged(plan, folder)
    if len(before) != len(after):
        raise InputError("reference.claims", f"has {len(before)} rows, and today's rules give {len(after)}", EXPECTED)
    for column in before.columns.difference(WORDS):
        apart = _apart(before[column], after[column], column in NUMBERS)
        if apart.any():
            row = int(apart.to_numpy().argmax())
            what = " ".join(before[name][row] for name in ("paper", "item", "setup"))
            differs = f"{what}: {column} is {before[column][row]!r}, and {after[column][row]!r} by today's rules"
            raise InputError("reference.claims", differs, EXPECTED)
    return before.assign(**{word: after[word] for word in WORDS})


def _apart(one: pd.Series, other: pd.Series, numbers: bool) -> pd.Series:
    """Where two columns differ, by more than rounding if they are numbers."""
    if not numbers:
        return one != other
    a, b = pd.to_numeric(one), pd.to_numeric(other)
    return (a.isna() != b.isna()) | ((a - b).abs() > ABSOLUTE + RELATIVE * a.abs())


if __name__ == "__main__":
    try:
        renew(Path("."))
    except InputError as error:
        sys.exit(f"error: {error}")
