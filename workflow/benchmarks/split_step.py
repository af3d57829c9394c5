"""Time of a split training step under each defense of the label party, relative to an undefended one.

Run `python workflow/benchmarks/split_step.py [note]`; it prints a table and writes it next to this file, with the note.
All train wide_deep at the paper's settings on the stand-in of criteo, through the protocol's own step. A round is one
step of each on the same batch, in random order; a defense's ratio is that of its time to the undefended step's of the
same round.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from machine import machine
from table import markdown, write

from cutlayer.data.datasets.base import Table
from cutlayer.data.normalised import STAND_IN
from cutlayer.data.standins.clicks import stand_in
from cutlayer.games.base.protocol import Task
from cutlayer.games.split.protocol import stepper
from cutlayer.plan import plugins

ROUNDS, WARM_UP = 300, 20
BUCKETS = (1_000, 10_000, 100_000)  # of a category
DEFENSES: dict[str, dict[str, Any]] = {
    "none": {"use": "none"},
    "iso": {"use": "iso"},
    "max_norm": {"use": "max_norm"},
    "marvell, sum_kl 0.25": {"use": "marvell", "sum_kl": 0.25},
    "marvell, power 4": {"use": "marvell", "power": 4.0},
    "dp": {"use": "dp"},
    "mixpro": {"use": "mixpro"},
    "secdt": {"use": "secdt"},
    "secdt, transformation alone": {"use": "secdt", "noise": 0.0, "normalize": "none"},
    "secdt, normalization alone": {"use": "secdt", "expansion": 1, "noise": 0.0},
    "secdt, noise alone": {"use": "secdt", "expansion": 1, "normalize": "none"},
}
SETTINGS = {
    "protocol": "split", "dataset": "criteo", "test_share": 0.1, "batch": 1024, "epochs": 5, "rate": 1e-4,
    "records": {"batches": 1},
}  # fmt: skip


def task(table: Table, buckets: int, defense: dict[str, Any]) -> Task:
    """A training at the paper's settings."""
    settings = SETTINGS | {"model": {"use": "wide_deep", "width": 128, "embedding": 4, "buckets": buckets}}
    return Task("step", "", 0, table, settings, {"": plugins.create("defense", *plugins.used(defense), "split")})


def measure(table: Table, buckets: int) -> np.ndarray:
    """Seconds of processor time (rounds, defenses)."""
    steppers = [stepper(task(table, buckets, defense)) for defense in DEFENSES.values()]
    order, seconds = np.random.default_rng(0), np.zeros((WARM_UP + ROUNDS, len(steppers)))
    for taken in seconds:
        for place in order.permutation(len(steppers)):
            start = time.process_time()
            steppers[place]()
            taken[place] = time.process_time() - start
    return seconds[WARM_UP:]


def rows(table: Table, buckets: int) -> Iterator[list[str]]:
    """The table's rows for models with so many buckets a category."""
    seconds = measure(table, buckets)
    ratios = seconds / seconds[:, :1]
    for name, own, ratio in zip(DEFENSES, seconds.T, ratios.T, strict=True):
        low, middle, high = np.quantile(ratio, [0.25, 0.5, 0.75])
        times = [f"{np.median(own) * 1e3:.1f}", f"{own.min() * 1e3:.1f}"]
        yield [f"{buckets:,}", name, *times, f"{middle:.3f}", f"{low:.3f} to {high:.3f}"]


def main(note: str) -> None:
    """Write the table."""
    table = stand_in(plugins.create("dataset", "criteo").of_version(STAND_IN))
    columns = ["buckets", "defense", "ms a step", "least ms", "ratio", "middle half"]
    write(
        __file__,
        "A defended training step against an undefended one",
        machine("torch", "numpy") + " One thread, processor time." + (f" {note}" if note else ""),
        f"wide_deep: 13 counts and 26 categories, {SETTINGS['batch']:,} examples a batch, width 128, embeddings of 4. "
        f"{ROUNDS} rounds, each one step of each on the same batch in random order; the ratio is to the undefended "
        "step of the same round: median and middle half.",
        "secdt trains 20 outputs in place of one logit; the wide part has one number a category under every defense.",
        markdown(columns, (row for size in BUCKETS for row in rows(table, size)), ">l>>>l"),
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(" ".join(sys.argv[1:]))
