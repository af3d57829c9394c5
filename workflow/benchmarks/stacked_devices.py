"""Speed of training the devices of a federated round as one stack, against a loop over devices.

Run `python workflow/benchmarks/stacked_devices.py [note]`; it prints a table and writes it next to this file, with the
note. Both do the same computation, see `games/federated/local.py`; what they give is compared too. 100 devices
take part in a round, with batches of 10 rows as in the paper, of the stand-in of adult_codes, which has its columns. A
round here is one local epoch of a few batches. The two take turns; a ratio is that of the wall-clock times of a turn.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "2"))

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
from cutlayer.games.federated.data import FederatedData, prepared
from cutlayer.games.federated.defense import Defense
from cutlayer.games.federated.local import Grouped, Sequential
from cutlayer.games.federated.protocol import networks_of
from cutlayer.plan import plugins

DEVICES, BATCH, TURNS = 100, 10, 5
# What is trained with the extractor, the models' sizes, batches of a turn.
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], int]] = {
    "privacy network": ({}, {}, 20),
    "privacy and utility network, narrow (scale quick)": ({"use": "tappfl"}, {"trunk": 32, "depth": 2}, 10),
    "privacy and utility network, four layers of 128": ({"use": "tappfl"}, {"trunk": 128, "depth": 4}, 10),
    "privacy and utility network, the paper's (7.9 million parameters)": ({"use": "tappfl"}, {}, 2),
}


class PrivacyOnly(Defense):
    """The extractor against a privacy network, and nothing else."""

    @property
    def roles(self) -> dict[str, float]:
        """One network."""
        return {"privacy": -0.5}


def sides(table: Table, model: dict[str, Any], defense: Defense) -> tuple[FederatedData, dict[str, Any]]:
    """The devices' data, and what both ways of training start from."""
    settings = {
        "protocol": "federated", "dataset": "adult_codes", "sensitive": "sex", "devices": DEVICES, "batch": BATCH,
        "local_epochs": 1, "model": {"use": "fully_connected", **model},
    }  # fmt: skip
    task = Task("devices", "", 0, table, settings, {})
    return prepared(task), networks_of(task, defense, prepared(task))


def turn(local: Any, networks: dict[str, Any], order: np.ndarray, defense: Defense) -> tuple[float, torch.Tensor]:
    """Seconds of a round of all devices, and what they upload."""
    start = {role: torch.nn.utils.parameters_to_vector(n.parameters()).detach() for role, n in networks.items()}
    kept = {role: dict.fromkeys(range(DEVICES), start[role]) for role in networks if role != "extractor"}
    began = time.perf_counter()
    uploaded = local.train(start["extractor"], kept, dict(enumerate(order)), defense, 0.01)
    return time.perf_counter() - began, uploaded


def measured(table: Table, use: dict[str, Any], model: dict[str, Any], batches: int) -> tuple[np.ndarray, float]:
    """Seconds (turns, 2) of the loop and of the stack, and how far apart what they give is."""
    defense = plugins.create("defense", use["use"]) if use else PrivacyOnly()
    data, networks = sides(table, model, defense)
    own = [data.places(device)[: batches * BATCH].reshape(1, batches, BATCH) for device in range(DEVICES)]
    order = np.stack(own)
    ways = (Grouped(networks, data), Sequential(dict(networks), data))
    fresh = {role: torch.nn.utils.parameters_to_vector(n.parameters()).detach().clone() for role, n in networks.items()}
    seconds, apart = np.zeros((TURNS + 1, 2)), 0.0
    for taken in seconds:
        for role, network in networks.items():
            torch.nn.utils.vector_to_parameters(fresh[role].clone(), network.parameters())
        (taken[1], one), (taken[0], other) = (turn(way, networks, order, defense) for way in ways)
        apart = float((one - other).abs().max())
    return seconds[1:], apart


def rows(table: Table) -> Iterator[list[str]]:
    """The table's rows."""
    for name, (use, model, batches) in CASES.items():
        seconds, apart = measured(table, use, model, batches)
        per = np.median(seconds, axis=0) / batches * 1e3
        ratios = seconds[:, 0] / seconds[:, 1]
        ends = f"{ratios.min():.1f} to {ratios.max():.1f}"
        yield [name, f"{per[0]:.1f}", f"{per[1]:.1f}", f"{np.median(ratios):.1f}", ends, f"{apart:.0e}"]


def main(note: str) -> None:
    """Write the table."""
    table = stand_in(plugins.create("dataset", "adult_codes"))
    columns = [
        "with the extractor",
        "loop, ms a batch of all",
        "stack, ms",
        "ratio",
        "least and greatest",
        "difference",
    ]
    write(
        __file__,
        "Devices of a federated round as one stack, against the loop over devices",
        machine("torch", "numpy") + " Two threads for both, wall-clock time." + (f" {note}" if note else ""),
        f"fully_connected on 13 columns less one of adult_codes; {DEVICES} devices, {BATCH} rows a batch; {TURNS} "
        "turns each. Difference: the largest between the parameters uploaded.",
        markdown(columns, rows(table), "l>>>l>"),
    )


if __name__ == "__main__":
    torch.set_num_threads(2)
    main(" ".join(sys.argv[1:]))
