"""Tables of verdicts and distances in the documents, generated from claims.csv.

A document says where it has one, and for which paper; an empty list of claims means those of `main` in paper.yaml:

    [//]: # (findings of marvell: norm_leaks, marvell_stops_norm)
    ...
    [//]: # (end of findings)

How far ours is from what each paper prints comes between `[//]: # (distances)` and `[//]: # (end of distances)`.

`make docs` writes what is between. A paper that is in reference/ has the findings of the reference run, any other those
of results/.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cutlayer.core import yamls
from cutlayer.core.errors import InputError
from cutlayer.core.files import replacing
from cutlayer.ledger import distance, names
from cutlayer.ledger.overview import plain
from cutlayer.ledger.readable import ALONE, ALONE_SAYS, OURS, decimals, interval, number
from cutlayer.ledger.verdicts import MARK, ORDER
from cutlayer.plan.plan import Plan

from . import excerpts, published

PLACE = re.compile(
    r"(?P<start>^\[//\]: # \(findings of (?P<paper>\w+)(?:: (?P<claims>[\w,\s]+))?\)\n)"
    r".*?(?P<end>^\[//\]: # \(end of findings\)$)",
    flags=re.S | re.M,
)
DISTANCES = re.compile(r"(^\[//\]: # \(distances\)\n).*?(^\[//\]: # \(end of distances\)$)", flags=re.S | re.M)
DOCUMENTS = ("README.md", "docs/**/*.md")
WIDTH = 128  # of lines of text in documents


@dataclass(frozen=True)
class Run:
    """A finished run of a paper, from its claims.csv."""

    claims: pd.DataFrame
    content: Mapping[str, Any]  # the paper, as the plan has it
    source: str  # where the rows are

    def table(self, chosen: Sequence[str]) -> str:
        """Table of claims with a sentence on the size of the run."""
        own = self.claims[self.claims["kind"] != "number"].set_index("item", drop=False)
        main = [item for entry in self.content["main"] for item in entry["claims"]]
        items = chosen or [item for item in main if item in own.index]  # a claim may be newer than the run
        for item in items:
            if item not in own.index:
                known = ", ".join(own["item"].unique())
                raise InputError(f"findings.{item}", "is no claim of this run", f"one of {known}")
        rows = [(self._claim(found), "; ".join(_found(found))) for item in items for found in [own.loc[[item]]]]
        about = (
            f"*Scale {' and '.join(own['scale'].unique())}, {own['seeds'].max()} seeds, {self.source}. Beside each "
            "verdict: the data, our number and its 95% interval. \\* is on less than the paper's sizes"
            f"{f'; {ALONE_SAYS}' * any(ALONE in found for _, found in rows)}"
            f"{'; in brackets the reading of the text' * any(' [' in found for _, found in rows)}.*"
        )
        lines = [*textwrap.wrap(about, WIDTH), "", "| the claim | what we find |", "|---|---|"]
        return "\n".join(["", *lines, *(f"| {claim} | {found} |" for claim, found in rows), "", ""])

    def _claim(self, found: pd.DataFrame) -> str:
        """The claim, and the limit of our number; in the arena every claim is ours, which its page says."""
        statement, limits = str(found["statement"].iloc[0]), found["threshold"].dropna().unique()
        if self.claims["kind"].eq("ours").all():
            statement = statement.removeprefix(OURS)
        return statement + (f" ({limits[0]})" if len(limits) == 1 else "")


def filled(text: str, runs: Mapping[str, Run]) -> str:
    """A document with its tables as these runs have them; without a run of the paper it keeps what is there."""

    def write(place: re.Match[str]) -> str:
        paper = place["paper"]
        return place["start"] + runs[paper].table(chosen(place)) + place["end"] if paper in runs else place[0]

    text = PLACE.sub(write, text)
    return DISTANCES.sub(lambda place: place[1] + distances(runs) + place[2], text) if runs else text


def distances(runs: Mapping[str, Run]) -> str:
    """Table of distances in tolerances by exhibit, a row for each paper with published numbers."""
    far = distance.table(pd.concat([run.claims for run in runs.values()]))
    lines = [
        "",
        "| paper | distance of each exhibit | of its undefended rows | data | scales | sizes |",
        "|---|---|---|---|---|---|",
    ]
    for paper, own in far.groupby("paper", sort=False):
        cells = (
            ", ".join(f"{row['exhibit']} **{row[column]}**" for row in own.to_dict("records") if row[column] != "")
            for column in ("distance", "distance undefended")
        )
        about = (", ".join(dict.fromkeys(", ".join(own[column]).split(", "))) for column in ("data", "scales", "sizes"))
        lines.append(f"| {' | '.join([str(paper), *cells, *about])} |")
    return "\n".join([*lines, "", ""])


def chosen(place: re.Match[str]) -> list[str]:
    """Claims that a mark names."""
    return [name.strip() for name in (place["claims"] or "").split(",") if name.strip()]


def runs(root: Path) -> dict[str, Run]:
    """The run of each paper that documents show: of reference/ if it is there, else of results/."""
    config = yamls.read(root / "params.yaml", "params.yaml")
    content, found = Plan(config).papers, {}
    reference = root / published.FOLDER
    for folder, known in ((root / "results", {}), (reference, published.runs(reference))):
        if not (folder / "claims.csv").exists():
            continue
        rows = pd.read_csv(folder / "claims.csv").fillna({"setup": "", "dataset": ""})  # of what is across datasets
        for paper in rows["paper"].unique():
            if paper in content:
                made = _made(known.get(paper, []))
                found[paper] = Run(rows[rows["paper"] == paper], content[paper], f"{folder.name}/claims.csv{made}")
    return found


def _made(own: Sequence[Mapping[str, str]]) -> str:
    """The commit and the date of a paper's run; of several, of each whose cells are there."""
    made = dict.fromkeys((run["commit"][:7], run["date"]) for run in own)
    if len(made) > 1:
        return f", by runs of the commits {', '.join(f'{commit} ({when})' for commit, when in made)}"
    return "".join(f", commit {commit}, {when}" for commit, when in made)


def main(root: Path) -> None:
    """Write all tables of findings."""
    known = runs(root)
    for path in sorted(path for pattern in DOCUMENTS for path in root.glob(pattern)):
        before = path.read_text(encoding="utf-8")
        after = excerpts.filled(filled(before, known), root / published.FOLDER)
        if after != before:
            with replacing(path) as temporary:
                temporary.write_text(after, encoding="utf-8")


def _found(rows: pd.DataFrame) -> Iterator[str]:
    """Text of a claim's findings by verdict: data and number of each, and its reading where they are of several."""
    several = rows.loc[rows["low"].notna(), "reading"].nunique() > 1
    for verdict in (marked for word in dict.fromkeys(map(plain, ORDER)) for marked in (word, f"{word}{MARK}")):
        same = rows[rows["verdict"] == verdict]
        if not same.empty:
            word = plain(verdict) + "\\*" * verdict.endswith(MARK)
            yield f"**{word}:** {', '.join(_number(row, several) for _, row in same.iterrows())}"


def _number(row: pd.Series[Any], several: bool) -> str:
    title = names.with_provenance(row["setup"], row["dataset"], row["provenance"])
    title += f" [{row['reading']}]" if several and row["low"] == row["low"] else ""
    ends = row["low"], row["high"]
    reach = interval(*ends)
    said = " ".join(filter(None, [title, number(row["ours"], decimals(*ends)), reach and f"({reach})"]))
    return said + ALONE * (row["alone"] == "yes")


if __name__ == "__main__":
    try:
        main(Path("."))
    except InputError as error:
        sys.exit(f"error: {error}")
