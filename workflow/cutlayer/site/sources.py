"""What the pages are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cutlayer.plan.hours import Hours


@dataclass(frozen=True)
class Beside:
    """Another site of the same papers: of the reference run beside yours, or the reverse."""

    title: str
    place: str  # its folder as seen from this site's, with a slash
    said: Mapping[str, str]  # paper -> a sentence before the link


@dataclass(frozen=True)
class Sources:
    """What the site is made of: the checked papers and the folders and files of a run, as paths."""

    papers: Mapping[str, Any]
    looks: Mapping[str, Mapping[str, Any]]  # defense -> its look
    scales: Sequence[str]  # that the results are of, the largest last
    hours: Hours  # of larger ones
    datasets: Sequence[str]
    results: Path  # folders: what the DAG made
    normalised: Path
    sources: Path  # data/sources.csv
    documents: Sequence[str]  # markdown files, relative to the working directory
    pictures: Sequence[str]  # that they show
    code: Mapping[str, str]  # paper -> a checksum of the code that makes its numbers
    beside: Beside | None = None
    api: bool = False  # whether it has the reference of the library
