"""Inputs of the site: papers, folders and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

NUMBERS = ("published", "tolerance", "ours", "low", "high", "difference", "folded")  # columns of claims.csv


@dataclass(frozen=True)
class OtherSite:
    """The linked site of the same papers: the reference run's for yours, and the reverse."""

    title: str
    place: str  # its folder as seen from this site's, with a slash
    summaries: Mapping[str, str]  # paper -> a sentence before the link


@dataclass(frozen=True)
class Inputs:
    """Inputs of a site: the checked papers, and the folders and files of a run."""

    papers: Mapping[str, Any]
    styles: Mapping[str, Mapping[str, Any]]  # defense -> its style, see `plan.styles`
    scales: Sequence[str]  # that the results are of, the largest last
    datasets: Sequence[str]
    results: Path  # folders: what the DAG made
    normalised: Path
    sources: Path  # data/sources.csv
    documents: Sequence[str]  # markdown files, relative to the working directory
    pictures: Sequence[str]  # that they show
    code: Mapping[str, str]  # paper -> a checksum of the code that makes its numbers
    other: OtherSite | None = None
    evidence: Inputs | None = None  # of the reference run, which the first page shows
    variants: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # kind -> name in params.yaml -> its file
    finding: str = ""  # HTML of README's sentence on what the reference run found; empty without such a run
    api: bool = False  # whether it has the reference of the library


def claims(given: Inputs) -> pd.DataFrame:
    """The rows of claims.csv whose exhibits are still in the papers."""
    table = pd.read_csv(given.results / "claims.csv", keep_default_na=False, na_values={name: [""] for name in NUMBERS})
    known = {(paper, name) for paper, content in given.papers.items() for name in ["", *content["exhibits"]]}
    return table[[who in known for who in zip(table["paper"], table["exhibit"], strict=True)]]
