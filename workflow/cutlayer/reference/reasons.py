"""Today's words of paper.yaml beside the verdicts of the reference run: reasons are found after a run, rules before it.

All verdicts are given again, from the cells in reference/. If a number or a verdict is another one than in claims.csv,
a rule has changed since the run, and nothing is written: that is for `make judge`. `make docs` does this.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any, cast

import pandas as pd

from cutlayer.core import yamls
from cutlayer.core.errors import InputError
from cutlayer.ledger import cells, files
from cutlayer.ledger.claims import Scale
from cutlayer.plan.plan import Plan

from . import published
from .publish import write_ledger

OLDER = "the reference run is older than this and has no such cells"
WORDS = ["place", "statement", "rule", "why"]  # columns that nothing is decided by
NUMBERS = ["published", "tolerance", "ours", "low", "high", "difference", "p"]
MEANT = "a rule is fixed before the run that it judges: run the paper again and `make publish`, or `make judge`"
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
    write_ledger(plan, table, folder)


def of_reference(root: Path) -> Plan:
    """Today's plan of the papers that are in the reference, at its scale."""
    known = published.runs(root / published.FOLDER)
    config = yamls.read(root / "params.yaml", "params.yaml")
    return Plan(config | {"scale": next(iter(known.values()))["scale"], "papers": [*known]})


def renewed(plan: Plan, folder: Path) -> pd.DataFrame:
    """The rows of claims.csv as they are there, with the words of today."""
    before = read(folder / "claims.csv")
    after = judged(plan, folder)
    if len(before) != len(after):
        raise InputError("reference.claims", f"has {len(before)} rows, and today's rules give {len(after)}", MEANT)
    for column in before.columns.difference(WORDS):
        apart = _apart(before[column], after[column], column in NUMBERS)
        if apart.any():
            row = int(apart.to_numpy().argmax())
            what = " ".join(before[name][row] for name in ("paper", "item", "setup"))
            told = f"{what}: {column} is {before[column][row]!r}, and {after[column][row]!r} by today's rules"
            raise InputError("reference.claims", told, MEANT)
    return before.assign(**{word: after[word] for word in WORDS})


def judged(plan: Plan, folder: Path) -> pd.DataFrame:
    """The rows by today's rules and paper.yaml, as text; there is no result of cells that the run does not have."""
    content = published.shown(folder, plan.papers)
    printed = [plan.folder / "papers" / name / "published.csv" for name in content]
    tables = [published.cells(folder, name, exhibit) for name, own in content.items() for exhibit in own["exhibits"]]
    with tempfile.TemporaryDirectory() as room:
        output = {kind: Path(room) / kind for kind in ("claims", "csv", "md")}
        scale = Scale(**cast(dict[str, Any], plan.judged_at | {"absent": OLDER}))
        files.write(content, printed, tables, scale, output)
        return read(output["claims"])


def read(path: Path) -> pd.DataFrame:
    """The rows of a claims.csv as text."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


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
