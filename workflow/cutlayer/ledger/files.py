"""Files of the ledger: all verdicts, their counts, and the summary in markdown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cutlayer.core import failed_cells
from cutlayer.core.files import replacing

from . import cells, claims, distance, multiplicity, overview
from .readable import ALONE, ALONE_SAYS
from .statistics import LEVEL
from .verdicts import ORDER
from .worst import with_parts

ROWS = "results/claims.csv and results/site/index.html"
MARKS = f"\\* is on less than the paper's sizes; {ALONE_SAYS}; *ours* are data of which the paper says nothing."


def write(
    papers: Mapping[str, Any],
    published: Sequence[str | Path],
    tables: Sequence[str | Path],
    sizes: Sequence[claims.Scale],
    output: Mapping[str, str | Path],
) -> None:
    """Judge all papers and write `claims`, `csv` and `md`.

    `published` has one csv a paper, `tables` the cells of all exhibits in the order of the papers, `sizes` the
    scales that these are of, the largest last.
    """
    remaining = iter(tables)
    parts, failed = [], dict[str, None]()
    for (name, paper), printed in zip(papers.items(), published, strict=True):
        own = {name: _loaded(next(remaining), exhibit) for name, exhibit in paper["exhibits"].items()}
        parts.append(claims.judge(name, paper, pd.read_csv(printed), own, *sizes))
        failed |= dict.fromkeys(line for table in own.values() for line in failed_cells.listed(table))
    verdicts = multiplicity.together(pd.concat(parts, ignore_index=True))
    cells.write(verdicts, output["claims"])
    cells.write(counts(verdicts), output["csv"])
    with replacing(output["md"]) as temporary:
        temporary.write_text(markdown(verdicts, papers, sizes, [*failed]), encoding="utf-8")


def _loaded(table: str | Path, exhibit: Mapping[str, Any]) -> pd.DataFrame:
    found = cells.load(table)
    return with_parts(found, exhibit["worst"]["among"]) if "worst" in exhibit else found


def counts(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Counts of verdicts by paper and kind."""
    table = verdicts.groupby(["paper", "kind"], sort=False)["verdict"].value_counts().unstack(fill_value=0)
    found = [word for word in ORDER if word in table.columns]
    return table[found].reset_index()


def markdown(
    verdicts: pd.DataFrame,
    papers: Mapping[str, Any],
    sizes: Sequence[claims.Scale],
    failed: Sequence[str],
    rows: str = ROWS,
) -> str:
    """What the site's first screen says, the counts, and where all rows are; `failed` has a line for each method that
    failed.
    """
    names = [scale.name for scale in sizes]
    lines = ["# Ledger", "", overview.ABOUT, "", f"{overview.of_scale(names)} {MARKS}", ""]
    if failed:
        lines += ["## Failed", "", overview.FAILED, "", *(f"- {line}" for line in failed), ""]
    for one in overview.papers(verdicts, papers, names):
        lines += [f"## {one.name}", "", f'{one.authors}, "{one.title}".', ""]
        if one.points:
            lines += [_table(one.points), ""]
        lines += [" ".join([one.decided, *one.rest]), ""]
    far = distance.table(verdicts)
    if not far.empty:
        lines += ["## How far ours is from what is printed", "", distance.ABOUT, "", far.to_markdown(index=False), ""]
    lines += ["## All rows", "", counts(verdicts).to_markdown(index=False), ""]
    return "\n".join(lines) + f"\n{overview.RULE}\n\n{false(verdicts)}\n\nEvery row is in {rows}.\n"


def false(verdicts: pd.DataFrame) -> str:
    """Sentence on the expected number of false verdicts."""
    rows, against, holds = multiplicity.discoveries(verdicts)
    return (
        f"Each of the {rows} rows that are judged by an interval keeps its own 95%: at most {LEVEL:.1%} on either "
        f"side. So up to {math.ceil(LEVEL * rows)} verdicts *fails* or *differs* may be false by chance, and as many "
        f"*holds*. Judged all at once (Benjamini-Hochberg, {LEVEL:.1%} of those that are kept may be false), {against} "
        f"*fails* or *differs* and {holds} *holds* are kept. Bounds are refuted only where all of them are tested at "
        "once."
    )


def _table(points: Sequence[overview.Point]) -> str:
    """Table of a paper's main claims by dataset."""
    titles = dict.fromkeys(_titled(chip) for point in points for chip in point.chips)
    rows = [{"says": point.text} | {_titled(chip): _verdict(chip) for chip in point.chips} for point in points]
    return str(pd.DataFrame(rows, columns=["says", *titles]).fillna("").to_markdown(index=False))


def _titled(chip: overview.Chip) -> str:
    return chip.title if chip.provenance == "real" else f"{chip.title} ({chip.provenance})"


def _verdict(chip: overview.Chip) -> str:
    return chip.text + "\\*" * chip.reduced + ALONE * chip.alone + " (ours)" * chip.ours
