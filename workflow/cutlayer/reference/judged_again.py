"""`make judge`: recomputes the reference's verdicts, tables and figures from its cells after a rule has changed.

What was measured stays, and no training is run. Which verdicts change is printed; report it where the rule is
changed: a rule that is chosen to change a verdict is no rule.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from cutlayer.core.errors import InputError
from cutlayer.ledger import cells
from cutlayer.plan.plan import Plan

from . import published, reasons, redrawn

ROW = ["paper", "item", "setup", "statement"]


def judge(root: Path) -> pd.DataFrame:
    """Write claims.csv, ledger.md and the exhibits of the reference; the verdicts that changed, from what to what."""
    folder = root / published.FOLDER
    plan, before = reasons.of_reference(root), redrawn.read(folder / "claims.csv")
    after = redrawn.judge(plan, folder)
    redrawn.draw(plan, folder, _drawn_again(plan, folder))
    both = before.merge(after, on=[*ROW, "kind"], suffixes=(" before", ""))
    return both.loc[both["verdict before"] != both["verdict"], [*ROW, "verdict before", "verdict"]]


def _drawn_again(plan: Plan, folder: Path) -> Iterator[tuple[str, str]]:
    """Every exhibit that is published, but of those that show what is newer than the run."""
    for paper, content in published.available(folder, plan.papers).items():
        for name, exhibit in content["exhibits"].items():
            if not published.is_newer(exhibit, cells.load(published.cells(folder, paper, name))):
                yield paper, name


if __name__ == "__main__":
    try:
        changed = judge(Path("."))
    except InputError as error:
        sys.exit(f"error: {error}")
    print(changed.to_markdown(index=False) if len(changed) else "no verdict changes")
