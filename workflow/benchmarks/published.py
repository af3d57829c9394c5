"""Runs at the published sizes with attacks on them, written row by row to a csv file, so that they can be resumed.

An attack on a training is a row that is appended to the file as soon as it is there; what it has already is not run
again. `readings_tappfl` says what runs, and writes a page from the rows.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from trials import at_scale, attacked, read

from cutlayer.core.devices import granted
from cutlayer.core.memory import keep_freed
from cutlayer.games.base.protocol import Task
from cutlayer.ledger.verdicts import POINTS
from cutlayer.plan import plugins

WHO = ["way", "setup", "seed", "attack"]
END = ["seconds", "machine"]
METRICS = ["test_accuracy", "attack_accuracy", "attack_accuracy_max", "attack_auc", "majority"]


class Job(NamedTuple):
    """A run at scale paper: a training for each of its settings, and attacks on them."""

    seed: int
    ways: dict[str, str]  # setting -> what is run, in words
    setup: str  # under which its rows are shown
    place: str  # the setup that is run
    defense: str  # the run's name of it
    methods: dict[str, tuple[str, dict[str, Any]]]  # setting -> what it is, with its parameters
    attacks: list[tuple[str, str]]  # setting, attack


class Where(NamedTuple):
    """The requested machine."""

    gpu: bool = False
    tf32: bool = False  # products on the GPU have 10 bits of fraction instead of 23

    def granted(self) -> tuple[str, str]:
        """The device of this process, and the machine that its rows name."""
        device = granted(int(self.gpu))
        if device == "cpu":
            return device, device
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = self.tf32
        return device, torch.cuda.get_device_name() + (" with TF32" if self.tf32 else "")


def rows(job: Job, where: Where) -> Iterator[list[Any]]:
    """A row of each attack, its metrics as means over devices, if there are any; named as the workflow's run is."""
    torch.set_num_threads(1)
    keep_freed()
    device, machine = where.granted()
    start, plan = time.process_time(), at_scale("paper")
    settings, defense = plan.setups[job.place], job.defense
    protocol = plugins.create("protocol", settings["protocol"])
    methods = {
        setting: plugins.create("defense", *method, settings["protocol"])
        for setting, method in job.methods.items()
        if setting in dict(job.attacks)
    }
    table = read(settings["dataset"])
    outcome = protocol.run(Task(job.place, defense, job.seed, table, settings, methods, device=device))
    for setting, attack in job.attacks:
        scores = attacked(plan, protocol, outcome, setting, attack, (job.place, defense, job.seed), device)
        values = defaultdict(list)
        for row in [*(row for row in outcome.utility if row["setting"] == setting), *scores]:
            if "metric" in row:
                values[row["metric"]].append(row["value"])
        cells = [float(np.mean(values[name])) if name in values else "" for name in METRICS]
        yield [job.ways[setting], job.setup, job.seed, attack, *cells, round(time.process_time() - start, 1), machine]


def append(file: Path, row: list[Any]) -> None:
    """One line more, in one piece, as several processes write to the file."""
    with file.open("a", newline="", encoding="utf-8", buffering=1) as rest:
        csv.writer(rest, lineterminator="\n").writerow(row)
    print(*row, flush=True)


def do(file: Path, job: Job, where: Where) -> None:
    """A training and its attacks."""
    for row in rows(job, where):
        append(file, row)


def measured(file: Path) -> pd.DataFrame:
    """The rows that there are."""
    empty = pd.DataFrame(columns=[*WHO, *METRICS, *END])
    return pd.read_csv(file, keep_default_na=False) if file.exists() else empty


def ran_on(rows: pd.DataFrame) -> str:
    """Which machines the rows are of, in words."""
    counts = rows["machine"].value_counts()
    return f"Run on: {', '.join(f'{machine} ({count} rows)' for machine, count in counts.items())}."


def distance(pairs: Iterable[tuple[list[float], float]], which: str) -> str:
    """How far ours, a value a seed, are from the printed, all in percent: in the unit of the ledger's table."""
    apart = [abs(np.mean(ours) - printed) / (100 * POINTS) for ours, printed in pairs if ours and not np.isnan(printed)]
    median = f"the median of |ours - printed| is {np.median(apart):.1f} tolerances of {100 * POINTS:g} points"
    return f"Over the {len(apart)} numbers {which} {median}."


def left(job: Job, asked: list[str], done: set[tuple[str, ...]]) -> Job:
    """The job with only those requested attacks that are not there yet; all are requested where none is named."""
    attacks = [
        (setting, attack)
        for setting, attack in job.attacks
        if attack in (asked or [attack]) and (job.ways[setting], job.setup, str(job.seed), attack) not in done
    ]
    return job._replace(attacks=attacks)


def run(file: Path, jobs: Iterable[Job], attacks: list[str], cores: int, where: Where) -> None:
    """What is not there yet, so many trainings side by side."""
    done = {tuple(map(str, row)) for row in measured(file)[WHO].to_numpy()}
    if not file.exists():
        append(file, [*WHO, *METRICS, *END])
    missing = [job for job in (left(job, attacks, done) for job in jobs) if job.attacks]
    with ProcessPoolExecutor(cores) as pool:
        for ended in [pool.submit(do, file, job, where) for job in missing]:
            ended.result()


def main(about: str, file: Path, jobs: Callable[[int, list[str]], Iterable[Job]], ways: Iterable[str]) -> None:
    """Run what the command line asks for: `jobs` of so many seeds and these ways."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ways", nargs="+", default=[*ways], choices=[*ways])
    parser.add_argument("--attacks", nargs="+", default=[], help="these alone; a training is made again for the others")
    parser.add_argument("--setups", nargs="+", default=[], help="these alone")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--cores", type=int, default=2, help="trainings side by side")
    parser.add_argument("--gpu", action="store_true", help="on a GPU, which the trainings side by side share")
    parser.add_argument("--tf32", action="store_true", help="on a GPU, with products of 10 bits of fraction")
    parser.add_argument("--table", action="store_true", help="write the page, run nothing")
    asked = parser.parse_args()
    every = [*jobs(asked.seeds, asked.ways)]
    known = {
        "setups": {job.setup for job in every},
        "attacks": {attack for job in every for _, attack in job.attacks},
    }
    for option, names in known.items():
        if others := {*getattr(asked, option)} - names:
            parser.error(f"--{option}: there is no {', '.join(sorted(others))}; expected {', '.join(sorted(names))}")
    if not asked.table:
        chosen = [job for job in every if job.setup in (asked.setups or known["setups"])]
        run(file, chosen, asked.attacks, asked.cores, Where(asked.gpu or asked.tf32, asked.tf32))
