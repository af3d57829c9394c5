"""headline: the few numbers that a run is followed by, as `dvc metrics` shows them.

The ledger's counts by paper, kind and verdict (full and reduced apart), and for each paper what its headline in
paper.yaml selects: how useful the scores stay and how much they leak (an AUC two-sided), each a check as claims are,
the mean over its seeds and setups.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cutlayer.core.files import replacing

from . import cells, evidence
from .verdicts import ORDER

Numbers = dict[str, float | str]
Counts = dict[str, dict[str, dict[str, int]]]


def write(
    papers: Mapping[str, Any], tables: Sequence[str | Path], verdicts: str | Path, output: str | Path, absent: str = ""
) -> None:
    """Write the counts of `verdicts` (claims.csv) and each paper's headline as JSON.

    `tables` are the cells of all exhibits in the order of the papers; `absent` says why there may be none.
    """
    remaining = iter(tables)
    numbers: dict[str, Numbers | Counts] = {"ledger": counts(pd.read_csv(verdicts))}
    for name, paper in papers.items():
        own = {exhibit: next(remaining) for exhibit in paper["exhibits"]}
        if "headline" in paper:
            numbers[name] = measure(paper["headline"], own, absent)
    with replacing(output) as temporary:
        temporary.write_text(json.dumps(numbers, indent=2, sort_keys=True, allow_nan=False) + "\n", encoding="utf-8")


def counts(verdicts: pd.DataFrame) -> Counts:
    """How many rows of each paper and kind have each verdict, where there are any."""
    found: Counts = {}
    for (paper, kind), own in verdicts.groupby(["paper", "kind"], sort=False):
        numbers = own["verdict"].value_counts()
        found.setdefault(str(paper), {})[str(kind)] = {word: int(numbers[word]) for word in ORDER if word in numbers}
    return found


def measure(headline: Mapping[str, Any], tables: Mapping[str, str | Path], absent: str = "") -> Numbers:
    """The value of each part of a headline, and where its data come from."""
    numbers: Numbers = {}
    origins: set[str] = set()
    for part, entry in headline.items():
        check = entry["check"]
        found = list(evidence.per_setup(check, {check["exhibit"]: cells.load(tables[check["exhibit"]])}, absent))
        means = [one.compared.shown.mean for one in found]
        reasons = [one.why for one in found if one.lacks]
        numbers[part] = reasons[0] if reasons else round(sum(means) / len(means), 10)
        origins |= {one.facts["provenance"] for one in found}
    return numbers | {"provenance": ", ".join(sorted(origins))}
