"""Readings of marvell's figure 1: optimizer, learning rate and batch size.

Run `make data`, then `python workflow/benchmarks/readings_marvell.py`. The setup is criteo_steps at scale reference,
with the model and the batch of the official settings, by Adam or, as figure 1's caption has it, stochastic gradient
descent. The page has the leak AUC of the gradient norm without a defense, in one batch each after 100 to 400 steps,
next to the values of figure 1, and how far the four are from these on average, which decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import torch
from machine import machine
from table import markdown, write
from trials import ROOT, read, reference, spelled

from cutlayer.core import transcript
from cutlayer.core.progress import steps
from cutlayer.games.base.protocol import Task
from cutlayer.plan import plugins
from cutlayer.stages.measures import marvell
from cutlayer.stages.theory import Case

SETUP, SEEDS = "criteo_steps", 3
SGD = "SGD"
LEAK = "leak_auc_of_gradient_norm"
READINGS: dict[str, dict[str, Any]] = {
    "official: rate 0.0001, batches of 1,024": {"rate": 0.0001},
    "rate 0.0002": {"rate": 0.0002},
    "rate 0.0005": {"rate": 0.0005},
    "rate 0.001": {"rate": 0.001},
    "rate 0.0001, batches of 256": {"rate": 0.0001, "batch": 256, "epochs": 2},
    f"{SGD}, rate 0.01": {"rate": 0.01},
    f"{SGD}, rate 0.1": {"rate": 0.1},
    f"{SGD}, rate 1": {"rate": 1.0},
    f"{SGD} with a momentum of 0.9, rate 0.01": {"rate": 0.01},
    f"{SGD} with a momentum of 0.9, rate 0.1": {"rate": 0.1},
}


def leaks(settings: Mapping[str, Any], seed: int) -> Iterator[float]:
    """The leak AUC at each step, and the test AUC at the end."""
    protocol = plugins.create("protocol", settings["protocol"])
    defenses = {"": plugins.create("defense", "none", {}, settings["protocol"])}
    outcome = protocol.run(Task(SETUP, "none", seed, read(settings["dataset"]), settings, defenses))
    seen, truth = outcome.shared | outcome.transcripts[""], transcript.of_setting(outcome.truth, "")
    rows = marvell.measure(seen, truth, Case("marvell", SETUP, "none", "", seed))
    yield from (row["value"] for row in rows if row["metric"] == LEAK)
    yield next(row["value"] for row in outcome.utility if row["metric"] == "test_auc")


def trained(name: str, settings: Mapping[str, Any], seed: int) -> list[float]:
    """What `leaks` gives, by the optimizer that the reading names."""
    if not name.startswith(SGD):
        return [*leaks(settings, seed)]
    descent = partial(torch.optim.SGD, momentum=0.9 if "momentum" in name else 0.0)
    with mock.patch.object(torch.optim, "Adam", descent):
        return [*leaks(settings, seed)]


def main() -> None:
    """A row for what is printed, and for each reading."""
    torch.set_num_threads(1)
    numbers = pd.read_csv(ROOT / "workflow/papers/marvell/published.csv").query("item == 'figure1'")
    printed = ["printed", *(f"{value:.3f}" for value in numbers["value"]), "", ""]
    settings, rows = reference().setups[SETUP], [printed]
    for name, own in steps(READINGS.items(), "readings"):
        found = [trained(name, {**settings, **own}, seed) for seed in range(SEEDS)]
        apart = np.abs(np.mean(found, axis=0)[:-1] - numbers["value"]).mean()
        rows.append([name, *(spelled([*values]) for values in zip(*found, strict=True)), f"{apart:.3f}"])
    columns = ["reading", *(f"step {step}" for step in marvell.STEPS), "test AUC", "distance"]
    about = (
        f"Criteo (a sample), scale reference but for what a row says, {SEEDS} seeds, 95% t-intervals. The leak AUC of "
        "the gradient norm without a defense, in one batch after so many steps. The paper prints one batch of one "
        "training. By Adam where no other optimizer is named; `distance` is that from what is printed, mean of four."
    )
    found = (
        "The faster a model learns, the sooner its |p - y| of the two classes meet, and the less the norm leaks. The "
        "paper does not say how fast its own learned. What is nearest to the four printed values on average is taken "
        "for figure 1. The test AUC is of a model that has seen our sample 5.7 times."
    )
    write(__file__, "What the text of marvell leaves open", machine("torch", "numpy"), about,
          markdown(columns, rows, "l" + ">" * (len(columns) - 1)), found)  # fmt: skip


if __name__ == "__main__":
    main()
