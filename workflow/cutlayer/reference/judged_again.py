"""`make judge`: recomputes the reference's verdicts, tables and figures from its cells after a rule has changed.

What was measured stays, and no training is run. Which verdicts change is printed, and is to be told where the change
is: a rule that is chosen to change a verdict is no rule.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from cutlayer.core.errors import InputError
from cutlayer.core.progress import steps
from cutlayer.ledger import cells
from cutlayer.plan.plan import Plan
from cutlayer.stages import drawing

from . import published, reasons
from .publish import copy, write_ledger

ROW = ["paper", "item", "setup", "statement"]


def judge(root: Path) -> pd.DataFrame:
    """Write claims.csv, ledger.md and the exhibits of the reference; the verdicts that changed, from what to what."""
    folder = root / published.FOLDER
    plan, before = reasons.of_reference(root), reasons.read(folder / "claims.csv")
    after = reasons.judged(plan, folder)
    cells.write(after, folder / "claims.csv")
    write_ledger(plan, after, folder)
    draw(plan, folder)
    both = before.merge(after, on=[*ROW, "kind"], suffixes=(" before", ""))
    return both.loc[both["verdict before"] != both["verdict"], [*ROW, "verdict before", "verdict"]]


def draw(plan: Plan, folder: Path) -> None:
    """Write the files of every exhibit that is published, but of those that show what is newer than the run."""
    content = published.shown(folder, plan.papers)
    for paper, name in steps([(paper, name) for paper, own in content.items() for name in own["exhibits"]], "judge"):
        exhibit = content[paper]["exhibits"][name]
        if published.is_newer(exhibit, cells.load(published.cells(folder, paper, name))):
            continue
        with TemporaryDirectory() as room:
            files = {kind: Path(room) / f"{name}.{kind}" for kind in ("csv", "png", "pdf", "md", "tex")}
            inputs = {"cells": published.cells(folder, paper, name)}
            inputs["published"] = plan.folder / "papers" / paper / "published.csv"
            drawing.draw((paper, name), exhibit, plan.plot_options(paper, name), plan.scale, inputs, files)
            for file in published.files_of(paper, name, exhibit):
                if file.startswith("exhibits/"):
                    copy(files[file.rpartition(".")[2]], folder / file)


if __name__ == "__main__":
    try:
        changed = judge(Path("."))
    except InputError as error:
        sys.exit(f"error: {error}")
    print(changed.to_markdown(index=False) if len(changed) else "no verdict changes")
