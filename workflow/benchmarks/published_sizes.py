"""What trainings take at the published sizes: a step of each setup, times its steps, settings and seeds.

Run `make data`, then `python workflow/benchmarks/published_sizes.py`, with nothing else on the machine. A step is
that of the undefended training, in the federated game of tappfl's with all devices of a round; attacks are not counted.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from machine import machine
from table import markdown, write
from trials import ROOT, at_scale, read

from cutlayer.core.progress import steps
from cutlayer.data.normalised import facts
from cutlayer.games.base.protocol import Task
from cutlayer.plan import plugins
from cutlayer.plan.plan import Plan
from cutlayer.plan.sweeps import settings_of

GAMES = {"split": "none", "split_server": "none", "federated": "tappfl"}  # whose step is taken
BATCHES = 4  # that the rows which are read make
SECONDS = 3.0  # that a step is tried for
NIGHT = 6.0  # hours
CORES = 2


class Price(NamedTuple):
    """What a setup takes."""

    setup: str
    rows: int
    steps: float  # of a training
    step: float  # seconds of a core
    trainings: int

    @property
    def hours(self) -> float:
        """Of two cores, for all trainings."""
        return self.alone * self.trainings / CORES

    @property
    def alone(self) -> float:
        """Hours of a core for one training."""
        return self.steps * self.step / 3600

    @property
    def line(self) -> list[Any]:
        """As the table has it."""
        sizes = [self.setup, f"{self.rows:,}", f"{self.steps:,.0f}", f"{1000 * self.step:,.1f}"]
        return [*sizes, f"{self.alone:,.2f}", self.trainings, f"{self.hours:,.1f}"]


def price(plan: Plan, setup: str, trainings: int) -> Price:
    """The price of one setup's trainings."""
    settings, game = plan.setups[setup], plan.setups[setup]["protocol"]
    known, table = facts(ROOT / "data/normalised", settings["dataset"]), read(settings["dataset"])
    known["counts"] = {name: np.bincount(codes).tolist() for name, codes in table.attributes.items()}
    work = importlib.import_module(f"cutlayer.games.{game}.work")
    few = work.small(settings, known, BATCHES)
    defense = plan.defense(setup, GAMES[game])
    label, own = list(settings_of(defense).items())[-1]
    task = Task(setup, GAMES[game], 0, table, few, {label: plugins.create("defense", defense["use"], own, game)})
    step = importlib.import_module(f"cutlayer.games.{game}.protocol").stepper(task)
    amounts = work.amounts(settings, known)
    whole = amounts["steps"] + amounts.get("pretraining", 0.0)
    rows = min(settings.get("rows", known["rows"]), known["rows"])
    return Price(setup, rows, whole, seconds(step) / work.timed(few, known), trainings)


def seconds(step: Callable[[], Any]) -> float:
    """Of a core for a step; the first one is not counted."""
    step()
    taken: list[float] = []
    while sum(taken) < SECONDS or len(taken) < 2:
        start = time.process_time()
        step()
        taken.append(time.process_time() - start)
    return float(np.median(taken))


def trainings(plan: Plan) -> dict[str, int]:
    """How many trainings each setup has: the settings of all defenses, and all seeds."""
    asked = {pair for _, _, exhibit in plan.exhibits() for pair in plan.runs(exhibit)}
    found: dict[str, int] = {}
    for setup, defense in sorted(asked):
        if plan.setups[setup]["protocol"] in GAMES:
            own = len(settings_of(plan.defense(setup, defense))) * len(plan.seeds)
            found[setup] = found.get(setup, 0) + own
    return found


def main() -> None:
    """A line for each setup, the dearest first."""
    torch.set_num_threads(1)
    plan = at_scale("paper")
    every = [price(plan, setup, count) for setup, count in steps(list(trainings(plan).items()), "setups")]
    every.sort(key=lambda one: -one.hours)
    columns = ["setup", "rows", "steps of a training", "ms a step", "hours a training", "trainings", "hours on 2 cores"]
    write(
        __file__,
        "What trainings take at the published sizes",
        machine("torch", "numpy"),
        f"Scale paper, {len(plan.seeds)} seeds, with the rows that are at hand; undefended steps, in the federated "
        "game tappfl's with all devices of a round; one thread, hours a training of one core. A defended step takes up "
        "to a few times as long; attacks and matching are not counted.",
        markdown(columns, [one.line for one in every], "l>>>>>>"),
        f"In all {sum(one.hours for one in every):,.0f} hours on 2 cores. Longer than a night of {NIGHT:g} hours, so "
        f"for a GPU or a cluster: {', '.join(one.setup for one in every if one.hours > NIGHT)}.",
    )


if __name__ == "__main__":
    main()
