"""Jobs: those that a paper has Snakemake run and time, with the logs of their times."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .plan import Plan
from .sweeps import UNDEFENDED, settings_of

SHARED = "shared-attacks"  # the job of several attacks on a run; a variant's name has no hyphen
MEASURED = {"scores", "utility", "theory"}  # sources that need runs
Case = tuple[str, str, str, int]  # kind, setup (of `normalise` the dataset), place under logs/<kind>/, pieces of a seed


@dataclass(frozen=True)
class Job:
    """One job for all seeds, or one for each.

    A piece is a training or an attack, of one seed and one setting; a `times` or `vulnerable` job is a piece for each
    method that it times or runs, and normalising a dataset is one.
    """

    kind: str
    setup: str
    log: str  # a pattern of files under logs/
    files: int
    pieces: int  # in each file

    def seconds(self, logs: Path) -> list[float]:
        """Seconds of each of its jobs that has ended."""
        return [_seconds(file) for file in sorted(logs.glob(self.log))]


def jobs(plan: Plan, paper: str) -> set[Job]:
    """Jobs behind a paper's exhibits; papers share some."""
    one_seed = {setup for grain in plan.grains if grain.one_seed for setup in grain.setups}
    return {_job(case, case[1] in one_seed, len(plan.seeds)) for case in _of_seeds(plan, paper)} | {
        _job(case, False, 1) for case in _of_all_seeds(plan, paper)
    }


def _job(case: Case, one_seed: bool, seeds: int) -> Job:
    kind, setup, place, pieces = case
    log = f"{kind}/{place}{'.seed*' if one_seed else ''}.benchmark.tsv"
    return Job(kind, setup, log, seeds if one_seed else 1, pieces if one_seed else seeds * pieces)


def _of_seeds(plan: Plan, paper: str) -> Iterator[Case]:
    """Jobs that a scale may cut into one for each seed."""
    shared = {run: attacks for (attacks, _), runs in plan.shared_jobs().items() for run in runs}

    def settings(setup: str, defense: str) -> int:
        return len(settings_of(plan.defense(setup, defense)))

    for exhibit in plan.papers[paper]["exhibits"].values():
        for setup, defense in plan.runs(exhibit) if MEASURED & set(exhibit["sources"]) else ():
            trainer = plan.trained_by(setup, defense)
            for own in {(setup, defense), (trainer or setup, UNDEFENDED if trainer else defense)}:
                yield "run", own[0], "/".join(own), settings(*own)
        for _, setup, defense, attack in map(_names, plan.files(paper, exhibit, "scores")):
            together = shared.get((setup, defense), ())
            job, attacks = (SHARED, len(together)) if attack in together else (attack, 1)
            yield "attack", setup, f"{setup}/{defense}/{job}", attacks * settings(setup, defense)
        for _, _, setup, defense in map(_names, plan.files(paper, exhibit, "theory")):
            yield "theory", setup, f"{paper}/{setup}/{defense}", settings(setup, defense)
        for _, setup, defense in map(_names, plan.files(paper, exhibit, "matches")):
            tried = plan.evaluations * len(plan.matches[setup, defense]["targets"])
            yield "match", setup, f"{setup}/{defense}", tried


def _of_all_seeds(plan: Plan, paper: str) -> Iterator[Case]:
    """Jobs of all seeds at every scale."""
    for exhibit in plan.papers[paper]["exhibits"].values():
        for _, setup, defense in map(_names, plan.files(paper, exhibit, "vulnerable")):
            yield "vulnerable", setup, f"{setup}/{defense}", len(plan.on_watched(setup, defense))
        for setup, _ in plan.runs(exhibit) if MEASURED & set(exhibit["sources"]) else ():
            if setup in plan.with_prior:
                yield "prior", setup, setup, 1
        for setup in exhibit["setups"]:
            dataset = plan.setups[setup]["dataset"]
            yield "normalise", dataset, dataset, 1
            if "times" in exhibit["sources"]:
                yield "times", setup, setup, len(plan.defenses_to_time(setup))


def _names(file: str) -> list[str]:
    """The folder under results/ of a file of the plan, and what the file is named after."""
    return file.removeprefix("results/").removesuffix(".csv").split("/")


def _seconds(file: Path) -> float:
    with file.open(newline="", encoding="utf-8") as rows:
        return sum(float(row["s"]) for row in csv.DictReader(rows, delimiter="\t"))
