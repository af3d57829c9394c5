"""Theory: measures on runs the quantities of a paper's theorems (`theory/<paper>.py`, `measures/<paper>.py`)."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cutlayer.core.artifacts import read_arrays, write_rows
from cutlayer.core.progress import steps
from cutlayer.core.seeds import generator
from cutlayer.core.transcript import FailedRun, load, of_setting


@dataclass(frozen=True)
class Case:
    """One setting and seed of a run, the argument of a paper's `measure(seen, truth, case)`."""

    paper: str
    setup: str
    defense: str
    setting: str
    seed: int

    def generator(self, *purpose: object) -> np.random.Generator:
        """Random generator seeded by the case and the purpose of the draw."""
        return generator("theory", *astuple(self), *purpose)


def measure(
    paper: str,
    setup: str,
    defense: str,
    transcripts: Sequence[str | Path],
    truths: Sequence[str | Path],
    seeds: Sequence[int],
    output: str | Path,
) -> None:
    """Write a paper's measured quantities for every setting and seed of a run, in the shape of scores.

    A measurement may name a setting of its own, e.g. the step it is of.
    """
    measures = importlib.import_module(f"cutlayer.stages.measures.{paper}")
    files = list(zip(seeds, transcripts, truths, strict=True))
    rows: list[dict[str, Any]] = []
    for seed, seen, true in steps(files, f"theory {paper}/{setup}/{defense}"):
        who = {"setup": setup, "defense": defense, "seed": seed, "setting": ""}
        try:
            settings = load(seen)
        except FailedRun as run:
            rows.append(who | {"metric": "", "value": None, "skipped": str(run)})
            continue
        truth = read_arrays(true)[0]
        for setting, arrays in settings.items():
            found = measures.measure(arrays, of_setting(truth, setting), Case(paper, setup, defense, setting, seed))
            rows += [who | {"setting": setting} | row for row in found]
    write_rows(output, rows)
