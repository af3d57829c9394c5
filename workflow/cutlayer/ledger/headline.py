"""Headline metrics: the dozen numbers of a run that `dvc metrics` shows.

For each paper what its headline in paper.yaml selects: how useful the scores stay and how much they leak (an AUC
two-sided), each a check as claims are, the mean over its seeds and setups.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cutlayer.core.files import replacing

from . import cells, evidence

Numbers = dict[str, float | str]


def write(papers: Mapping[str, Any], tables: Sequence[str | Path], output: str | Path, absent: str = "") -> None:
    """Write each paper's headline as JSON, under the paper's name and the provenance of its data.

    Numbers on a stand-in so have another name than those on the real data, and no difference between them is shown.
    `tables` are the cells of all exhibits in the order of the papers; `absent` says why there may be none.
    """
    remaining = iter(tables)
    numbers: dict[str, Numbers] = {}
    for name, paper in papers.items():
        own = {exhibit: next(remaining) for exhibit in paper["exhibits"]}
        if "headline" in paper:
            values, provenance = measure(paper["headline"], own, absent)
            numbers[f"{name} ({provenance})"] = values
    with replacing(output) as temporary:
        temporary.write_text(json.dumps(numbers, indent=2, sort_keys=True, allow_nan=False) + "\n", encoding="utf-8")


def measure(headline: Mapping[str, Any], tables: Mapping[str, str | Path], absent: str = "") -> tuple[Numbers, str]:
    """Values of a headline's parts, or why there are none, and the provenance of the data."""
    numbers: Numbers = {}
    origins: set[str] = set()
    for part, entry in headline.items():
        check = entry["check"]
        found = list(evidence.per_setup(check, {check["exhibit"]: cells.load(tables[check["exhibit"]])}, absent))
        means = [one.compared.shown.mean for one in found]
        reasons = [one.why for one in found if one.lacks]
        numbers[part] = reasons[0] if reasons else round(sum(means) / len(means), 10)
        origins |= {one.facts["provenance"] for one in found}
    return numbers, ", ".join(sorted(origins))
