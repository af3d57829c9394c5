"""`make docs`: the tables of ARTIFACT-APPENDIX.md, from the runs, seconds and verdicts of reference/.

Its text says where each comes, and what is between is written again:

    [//]: # (time and disk)
    ...
    [//]: # (end)
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from cutlayer.core import yamls
from cutlayer.core.errors import InputError
from cutlayer.core.files import replacing
from cutlayer.ledger import overview
from cutlayer.plan import cost
from cutlayer.plan.plan import Plan

from . import compare, published
from .findings import WIDTH

PAGE = Path("ARTIFACT-APPENDIX.md")
MARKED = r"\*"  # of what is on less than the paper's sizes
PLACE = re.compile(r"(^\[//\]: # \((time and disk|main claims|limits)\)\n).*?(^\[//\]: # \(end\)$)", flags=re.S | re.M)


def filled(text: str, root: Path) -> str:
    """The page with its tables as the reference has them."""
    content = Plan(yamls.read(root / "params.yaml", "params.yaml")).papers
    folder = root / published.FOLDER
    runs = pd.read_csv(folder / published.RUNS)
    claims = compare.read(folder / "claims.csv")
    papers = [*overview.papers(claims, content, ["reference"])]
    tables = {
        "time and disk": [*experiments(runs, pd.read_csv(root / cost.TABLE), content)],
        "main claims": [*main_claims(papers, claims)],
        "limits": [limits(paper) for paper in papers],
    }
    return PLACE.sub(lambda place: "\n".join([place[1], *tables[place[2]], "", place[3]]), text)


def experiments(runs: pd.DataFrame, seconds: pd.DataFrame, content: Mapping[str, Any]) -> Iterator[str]:
    """A row for each paper and scale that was published: its command, and what that took."""
    yield "| experiment | command | hours | on | transcripts |"
    yield "|---|---|---|---|---|"
    for (paper, scale), own in runs.groupby(["paper", "scale"], sort=False):
        on = "; ".join(f"{row.machine}, cores: {row.cores}" for row in own.drop_duplicates("machine").itertuples())
        setups = {name for exhibit in content[str(paper)]["exhibits"].values() for name in exhibit.get("setups", ())}
        kept = seconds[(seconds["scale"] == scale) & seconds["setup"].isin(setups)]
        size = (kept["pieces"] * kept["megabytes"]).sum() / 1000
        command = f"`make results SCALE={scale} PAPERS={paper}`"
        disk = f"{size:.1f} GB ({', '.join(kept['setup'].unique())})" if size else "not recorded"
        yield f"| {paper}, {scale} | {command} | {own['hours'].sum():.1f} | {on} | {disk} |"


def main_claims(papers: list[overview.Paper], claims: pd.DataFrame) -> Iterator[str]:
    """A table for each paper: its main claims, the files that show them, and what the reference finds."""
    for paper in papers:
        yield f"**{paper.name}**, by `make results SCALE=reference PAPERS={paper.name}`:"
        yield "\n| claim | in `results/exhibits/` | expected |\n|---|---|---|"
        own = claims[(claims["paper"] == paper.name) & (claims["kind"] != "number")]
        for point in paper.points:
            exhibits = own.loc[own["item"].isin(point.claims), "exhibit"].unique()
            files = ", ".join(f"`{paper.name}/{name}.csv`" for name in exhibits if name)
            yield f"| {point.text} | {files} | {'; '.join(map(expected, point.chips)) or 'not in the reference'} |"
        yield ""


def expected(chip: overview.Chip) -> str:
    """Verdicts on a main claim for one dataset, with what they are about."""
    about = "" if chip.provenance == "real" else f" ({chip.provenance})"
    return f"{chip.title}{about}: {chip.text}{MARKED * chip.reduced}{' (ours)' * chip.ours}"


def limits(paper: overview.Paper) -> str:
    """What the reference leaves open of a paper, as an item of a list."""
    text = f"- {paper.name}: {' '.join([paper.decided, *paper.rest])}"
    return textwrap.fill(text, WIDTH, subsequent_indent="  ", break_long_words=False)


def main(root: Path) -> None:
    """Write the page again."""
    before = (root / PAGE).read_text(encoding="utf-8")
    with replacing(root / PAGE) as temporary:
        temporary.write_text(filled(before, root), encoding="utf-8")


if __name__ == "__main__":
    try:
        main(Path("."))
    except InputError as error:
        sys.exit(f"error: {error}")
