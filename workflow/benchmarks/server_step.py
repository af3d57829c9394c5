"""Time of a split_server training step under each defense, relative to an undefended one.

Run `python workflow/benchmarks/server_step.py [note]`; it prints a table and writes it next to this file, with the
note. All train mlp at the paper's settings on the stand-in of adult, which has its columns, by the protocol's own step.
Pre-training is not counted. A round is one step of each in random order, on the same batch; a ratio is that of the
times of BLOCK rounds.
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
from cutlayer.data.standins.tabular import stand_in
from cutlayer.games.base.protocol import Task
from cutlayer.games.split_server.protocol import stepper
from cutlayer.plan import plugins

ROUNDS, WARM_UP, BLOCK = 960, 80, 160
DEFENSES: dict[str, dict[str, Any]] = {
    "none": {"use": "none"},
    "adv": {"use": "adv"},
    "adv, two steps of its adversary": {"use": "adv", "steps": 2},
    "adv, one step": {"use": "adv", "steps": 1},
    "adv, one step with noise": {"use": "adv", "steps": 1, "sees": "noised"},
    "adv2": {"use": "adv2"},
    "adv2, one step with noise": {"use": "adv2", "steps": 1, "sees": "noised"},
    "infocensor": {"use": "infocensor"},
    "linear": {"use": "linear"},
    "tcpo": {"use": "tcpo", "threshold": 1.0},
    "tcpo, kernels": {"use": "tcpo", "threshold": 1.0, "widening": "kernels"},
    "tcpo, sgd": {"use": "tcpo", "threshold": 1.0, "optimizer": "sgd"},
    "tcpo, over its threshold": {"use": "tcpo", "threshold": 0.02},
    "tcpo, all 64 axes": {"use": "tcpo", "threshold": 1.0, "components": 64},
    "tcpo_exact: all rows, all axes": {"use": "tcpo", "threshold": 1.0, "rows": 30000, "components": 64},
}
SETTINGS = {
    "protocol": "split_server", "dataset": "adult", "sensitive": "sex", "sigma": 1.0, "batch": 256, "epochs": 50,
    "rate": 1e-3, "records": {"attacked": 1}, "model": {"use": "mlp", "width": 64},
}  # fmt: skip


def task(table: Table, defense: dict[str, Any]) -> Task:
    """A training at the paper's settings."""
    method = plugins.create("defense", *plugins.used(defense), "split_server")
    return Task("step", "", 0, table, SETTINGS, {"": method})


def measure(trainings: list[Task]) -> np.ndarray:
    """Seconds of processor time (rounds, trainings)."""
    steppers = [stepper(training) for training in trainings]
    order, seconds = np.random.default_rng(0), np.zeros((WARM_UP + ROUNDS, len(steppers)))
    for taken in seconds:
        for place in order.permutation(len(steppers)):
            start = time.process_time()
            steppers[place]()
            taken[place] = time.process_time() - start
    return seconds[WARM_UP:]


def rows(table: Table) -> Iterator[list[str]]:
    """The table's rows."""
    trainings = {name: task(table, defense) for name, defense in DEFENSES.items()}
    seconds = measure(list(trainings.values()))
    blocks = seconds.reshape(-1, BLOCK, len(trainings)).sum(axis=1)
    for name, own, ratio in zip(trainings, seconds.T, (blocks / blocks[:, :1]).T, strict=True):
        low, middle, high = np.quantile(ratio, [0.25, 0.5, 0.75])
        times = [f"{own.mean() * 1e3:.2f}", f"{np.median(own) * 1e3:.2f}"]
        yield [name, *times, f"{middle:.2f}", f"{low:.2f} to {high:.2f}"]


def main(note: str) -> None:
    """Write the table."""
    table = stand_in(plugins.create("dataset", "adult"))
    write(
        __file__,
        "A client-side defended training step against an undefended one",
        machine("torch", "numpy") + " One thread, processor time." + (f" {note}" if note else ""),
        f"mlp: 13 columns of adult, one-hot, width 64; {SETTINGS['batch']} examples a batch. {ROUNDS} rounds, each one "
        "step of each in random order, on the same batch at the paper's settings; the ratio is that of the times of "
        f"{BLOCK} rounds to those of the undefended steps: median and middle half. Pre-training is not counted.",
        markdown(["defense", "mean ms a step", "median ms", "ratio", "middle half"], rows(table), "l>>>l"),
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(" ".join(sys.argv[1:]))
