"""tappfl at the published size: lambda = 0, which can be compared with published rows, and lambda = 1.

Run `make data`, then `python workflow/benchmarks/readings_tappfl.py`, of which `--help` says how to make a part, and
which may be stopped: see `published`. All is as at scale paper: 100 devices, a tenth of them in each of 20 rounds, 10
local epochs in batches of 10, the network of the paper's table 3. For CIFAR-10 it takes a core more than a day.

At lambda = 1 the utility network, by far the largest, has no say. It is left out: that is `at` with weight 1. A test
holds that the extractor and the privacy networks are the same.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

from collections.abc import Iterator
from functools import cache, partial
from itertools import product
from pathlib import Path

import pandas as pd
import published
from machine import machine
from published import Job
from readings_page import number, summary
from table import markdown, write
from trials import ROOT

ROWS = Path(__file__).with_suffix(".csv")
PRINTED = ROOT / "workflow/papers/tappfl/published.csv"
SETUPS = {  # setup -> what published.csv calls it
    "adult_gender": ("adult", "gender"), "adult_marital": ("adult", "marital_status"), "loans_race": ("loans", "race"),
    "cifar10_animal": ("cifar10", "animal"),
}  # fmt: skip
WAYS = {"lambda=0": ("tappfl", {"weight": 0.0}), "lambda=1": ("at", {"weight": 1.0})}
ATTACKS = ("stale", "retrained")


def jobs(seeds: int, ways: list[str]) -> Iterator[Job]:
    """Both of a setup and seed in one run, as they have the pre-training in common."""
    methods = {f"weight={WAYS[way][1]['weight']}": WAYS[way] for way in ways}  # named as the workflow's settings are
    named = dict(zip(methods, ways, strict=True))
    for seed, setup in product(range(seeds), SETUPS):
        yield Job(seed, named, setup, setup, "tappfl", methods, [*product(named, ATTACKS)])


@cache
def table2() -> pd.Series:
    """What is printed there."""
    numbers = pd.read_csv(PRINTED).query("item == 'table2'")
    return numbers.set_index(["dataset", "target", "method", "metric"])["value"]


def printed(setup: str, way: str, metric: str) -> float:
    """The printed number in percent."""
    return 100 * float(table2()[(*SETUPS[setup], way, metric)])


def ours(rows: pd.DataFrame, setup: str, way: str, attack: str, metric: str) -> list[float]:
    """One value a seed, in percent."""
    own = rows[(rows["setup"] == setup) & (rows["way"] == way) & (rows["attack"] == attack)]
    return [100 * float(value) for value in own[metric]]


def lines(rows: pd.DataFrame) -> Iterator[list[str]]:
    """Ours and the printed, setup by setup."""
    for setup, way in product(SETUPS, WAYS):
        stale, retrained = (partial(ours, rows, setup, way, attack) for attack in ATTACKS)
        yield [
            setup,
            way,
            summary(stale("test_accuracy")),
            number(printed(setup, way, "test_accuracy")),
            summary(stale("attack_accuracy")),
            number(printed(setup, way, "inference_accuracy")),
            *map(summary, (stale("attack_auc"), retrained("attack_accuracy"), retrained("attack_auc"))),
            summary(retrained("majority")),
        ]


def pairs(rows: pd.DataFrame, way: str) -> Iterator[tuple[list[float], float]]:
    """Ours and the printed: utility, and what the devices' own networks infer."""
    for setup in SETUPS:
        for metric, name in {"test_accuracy": "test_accuracy", "attack_accuracy": "inference_accuracy"}.items():
            yield ours(rows, setup, way, "stale", metric), printed(setup, way, name)


def page() -> None:
    """Write the page from all rows that there are."""
    rows = published.measured(ROWS)
    names = ["setup", "lambda", "utility", "printed", "stale", "printed", "stale AUC", "retrained", "retrained AUC"]
    write(
        __file__,
        "tappfl at the published size",
        machine("torch", "numpy"),
        "Scale paper: 100 devices, a tenth of them in each of 20 rounds, 10 local epochs, batches of 10, plain steps "
        "of 0.01; real data. Accuracies and AUC in percent, 95% t-intervals over seeds, "
        "in brackets how many; majority is the share of the most common value. Blank: not run yet. "
        + published.ran_on(rows),
        " ".join(published.distance(pairs(rows, way), f"at {way}") for way in WAYS),
        markdown([*names, "majority"], lines(rows), "ll" + ">" * 8),
    )


if __name__ == "__main__":
    published.main(str(__doc__), ROWS, jobs, WAYS)
    page()
