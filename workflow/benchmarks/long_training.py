"""Whether tappfl's lambda protects against a retrained adversary once devices train for long, on real data.

Run `make data`, then `python workflow/benchmarks/long_training.py [setup ...]`; two seeds run side by side, each on a
core. It prints a table and writes it beside this file. Setups are those of scale reference but for two devices, which
take part in every round, so that many more steps fit into the same time: on Adult the extractor takes some 19,000 at
twice the paper's rate, where the paper takes about 5,000 and scale reference 1,000. There lambda moves the
representations little from where the pre-training left them. The settings were chosen on seed 0, which is not among
the seeds here. Intervals are over seeds; the difference is taken seed by seed.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from machine import machine
from table import markdown, write
from trials import attacked, read, reference, spelled

from cutlayer.games.base.protocol import Task
from cutlayer.plan import plugins
from cutlayer.plan.plan import Plan

SEEDS, WEIGHTS = (1, 2, 3), (0.0, 1.0)
COMMON = {"devices": 2, "participation": 1.0}
SETUPS: dict[str, dict[str, Any]] = {
    "adult_gender": {"rounds": 40, "batch": 50, "rate": 0.02},
    "cifar10_animal": {
        "rows": 3000, "rounds": 100, "batch": 32, "rate": 0.01,
        "model": {"use": "vgg", "channels": 4, "group": 1, "shrink": 4},
    },
}  # fmt: skip
ATTACKS = ("stale", "retrained")
METRICS = ("attack_accuracy", "attack_auc", "majority")


def settings(plan: Plan, setup: str) -> dict[str, Any]:
    """The setup at scale reference, with what differs here."""
    return {**plan.setups[setup], **COMMON, **SETUPS[setup]}


def one_run(plan: Plan, setup: str, seed: int) -> dict[tuple[str, str, float], float]:
    """(attack or "test", metric, lambda) -> value."""
    chosen = settings(plan, setup)
    defenses = {f"{weight:g}": plugins.create("defense", "tappfl", {"weight": weight}) for weight in WEIGHTS}
    protocol = plugins.create("protocol", chosen["protocol"])
    outcome = protocol.run(Task(setup, "tappfl", seed, read(chosen["dataset"]), chosen, defenses))
    values: dict[tuple[str, str, float], float] = {
        ("test", row["metric"], float(row["setting"])): row["value"]
        for row in outcome.utility
        if row["metric"] == "test_accuracy"
    }
    for name in ATTACKS:
        for setting in outcome.transcripts:
            scores = attacked(plan, protocol, outcome, setting, name, (setup, "tappfl", seed))
            for metric in METRICS:
                own = [row["value"] for row in scores if row.get("metric") == metric]
                values[name, metric, float(setting)] = float(np.mean(own))
    return values


def found(job: tuple[str, int]) -> dict[tuple[str, str, float], float]:
    """What a run of a setup and a seed gives."""
    return one_run(reference(), *job)


def rows(setup: str, runs: list[dict[tuple[str, str, float], float]]) -> list[list[str]]:
    """The lines of a setup: what each measure is without and with lambda, and how far it falls."""
    lines = []
    for name, metric in [("test", "test_accuracy"), *((a, m) for a in ATTACKS for m in METRICS if m != "majority")]:
        ends = [[run[name, metric, weight] for run in runs] for weight in WEIGHTS]
        apart = [after - before for before, after in zip(*ends, strict=True)]
        what = metric.replace("_", " ") if name == "test" else f"{name}, {metric.split('_')[1].replace('auc', 'AUC')}"
        lines.append([setup, what, spelled(ends[0]), spelled(ends[1]), spelled(apart, "+.3f")])
    common = [run["retrained", "majority", weight] for run in runs for weight in WEIGHTS]
    return [*lines, [setup, "the attribute's most common value", f"{np.mean(common):.3f}", "", ""]]


def main(setups: list[str]) -> None:
    """All trainings, then the table."""
    jobs = [(setup, seed) for setup in setups for seed in SEEDS]
    with ProcessPoolExecutor(2) as pool:
        runs = dict(zip(jobs, pool.map(found, jobs), strict=True))
    shown = "; ".join(
        f"{name}: {used['rounds']} rounds, {used['batch']} rows a batch, rate {used['rate']}"
        for name, used in SETUPS.items()
        if name in setups
    )
    columns = ["setup", "measure", *(f"lambda = {weight:g}" for weight in WEIGHTS), "difference"]
    told = [row for setup in setups for row in rows(setup, [runs[setup, seed] for seed in SEEDS])]
    write(
        __file__,
        "Lambda after a long training",
        machine("torch", "numpy"),
        f"Scale reference but for {COMMON['devices']} devices, all in every round, and on CIFAR-10 fewer rows and a "
        f"smaller network; {shown}. Real Adult, a sample of CIFAR-10; {len(SEEDS)} seeds, 95% t-intervals.",
        markdown(columns, told, "ll>>>"),
    )


if __name__ == "__main__":
    main(sys.argv[1:] or list(SETUPS))
