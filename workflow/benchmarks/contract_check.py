"""What the look at a defense's return values costs, as a share of a training step.

Run `python workflow/benchmarks/contract_check.py [note]`; it prints a table and writes it beside this file, with the
note. Every defense of a setup of split and of split_server, each in the first setting of its sweep, at the sizes of two
scales of params.yaml, on stand-ins of the datasets and through the protocol's own step, as `Protocol.outcome` takes it.
A checked hook is the hook as the defense wrote it (`__wrapped__`) and then the contract's check of what it returned;
here both are called in that order, with a clock before and after the check. A share is that of all checks in a step,
clock included, in the step's time.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
import torch
from machine import machine
from table import markdown, write
from trials import at_scale

from cutlayer.data.datasets.base import Table
from cutlayer.data.normalised import STAND_IN
from cutlayer.data.standins import clicks, tabular
from cutlayer.games.base.checks import a_few_at_once
from cutlayer.games.base.protocol import Task
from cutlayer.plan import plugins
from cutlayer.plan.sweeps import settings_of

SETUPS, SCALES = ("criteo", "adult_sex"), ("quick", "paper")
ROUNDS, WARM_UP = 150, 10
MOST = 0.01  # the share of a step that checks may take; fixed before anything was measured
COLUMNS = ["game", "scale", "defense", "ms a step", "checks, µs", "share", "middle half"]


@dataclass
class Clock:
    """Seconds that the checks of each hook took since it was last read."""

    spent: dict[str, float] = field(default_factory=dict)
    runs: bool = False  # in a check, which may call a checked hook itself

    def read(self) -> dict[str, float]:
        """The seconds; then it starts anew."""
        spent, self.spent = self.spent, {}
        return spent


CLOCK = Clock()


def of_clock() -> float:
    """The seconds that it takes to read the clock."""
    start = time.process_time()
    for _ in range(1000):
        time.process_time()
    return (time.process_time() - start) / 1000


def clocked(hook: Callable[..., Any], check: Callable[..., None], name: str) -> Callable[..., Any]:
    """A hook and the check of what it returns, with a clock around the check."""

    def both(self: Any, *arguments: Any) -> Any:
        result = hook(self, *arguments)
        if not CLOCK.runs:
            CLOCK.runs, start = True, time.process_time()
            check(name, result, self, *arguments)
            CLOCK.spent[name] = CLOCK.spent.get(name, 0.0) + time.process_time() - start
            CLOCK.runs = False
        return result

    return both


def put_clocks(defense: Any) -> None:
    """Have the checks of a defense's class timed, once."""
    line = type(defense).__mro__
    for cls in line:
        for name, hook in list(vars(cls).items()):
            if hasattr(hook, "__wrapped__") and not name.startswith("__"):
                check = next(vars(base)[name].check for base in line if hasattr(vars(base).get(name), "check"))
                setattr(cls, name, clocked(hook.__wrapped__, check, name))


def trainings(setup: str, scale: str, table: Table) -> dict[str, Task]:
    """A task of each defense of a setup."""
    plan, found = at_scale(scale), {}
    settings = plan.setups[setup]
    for name in plan.variants.reasons("defense", [setup]):
        variant = plan.defense(setup, name)
        first, *_ = settings_of(variant).values()
        defense = plugins.create("defense", variant["use"], first, settings["protocol"])
        found[name] = Task(setup, name, 0, table, settings, {"": defense})
    return found


Steps = list[tuple[float, dict[str, float]]]  # seconds of a step, and of the checks of each hook in it


def measure(tasks: list[Task]) -> list[Steps]:
    """The steps of each task in processor time; a round takes one of each, in random order."""
    order = np.random.default_rng(0)
    for task in tasks:
        put_clocks(task.defenses[""])
    steppers = [import_module(f"cutlayer.games.{t.settings['protocol']}.protocol").stepper(t) for t in tasks]
    steps: list[Steps] = [[] for _ in tasks]
    for _ in range(WARM_UP + ROUNDS):
        for place in order.permutation(len(tasks)):
            CLOCK.read()
            start = time.process_time()
            with a_few_at_once():
                steppers[place]()
            steps[place].append((time.process_time() - start, CLOCK.read()))
    return [own[WARM_UP:] for own in steps]


def rows() -> Iterator[list[Any]]:
    """The table's rows, a defense's share as a number."""
    tables = {
        "criteo": clicks.stand_in(plugins.create("dataset", "criteo").of_version(STAND_IN)),
        "adult_sex": tabular.stand_in(plugins.create("dataset", "adult")),
    }
    for setup in SETUPS:
        for scale in SCALES:
            tasks = trainings(setup, scale, tables[setup])
            for (name, task), steps in zip(tasks.items(), measure(list(tasks.values())), strict=True):
                yield [task.settings["protocol"], scale, name, *cells(steps)]


def cells(steps: Steps) -> list[Any]:
    """What is shown of a task's steps; the share is a number."""
    seconds = np.array([taken for taken, _ in steps])
    checks = np.array([sum(spent.values()) for _, spent in steps])
    hooks = {name: np.median([spent.get(name, 0.0) for _, spent in steps]) for name in steps[0][1]}
    low, share, high = np.quantile(checks / seconds, [0.25, 0.5, 0.75])
    told = ", ".join(f"{name} {1e6 * taken:.1f}" for name, taken in hooks.items())
    return [f"{np.median(seconds) * 1e3:.2f}", told, float(share), f"{low:.2%} to {high:.2%}"]


def summary(found: list[list[Any]]) -> str:
    """The greatest share, and whether it is what was meant."""
    place = COLUMNS.index("share")
    worst = max(found, key=lambda row: row[place])
    over = [f"{row[2]} ({row[0]}, {row[1]})" for row in found if row[place] > MOST]
    said = f"Not more than {MOST:.0%} of a step anywhere" if not over else f"More than {MOST:.0%} in {', '.join(over)}"
    return f"{said}; the greatest share is {worst[place]:.2%}, of {worst[2]} at scale {worst[1]}."


def main(note: str) -> None:
    """Write the table."""
    found = []
    for row in rows():
        found.append(row)
        print(*row, flush=True)
    shown = [[f"{cell:.2%}" if isinstance(cell, float) else cell for cell in row] for row in found]
    write(
        __file__,
        "What the check of a defense's return values costs",
        machine("torch", "numpy") + " One thread, processor time." + (f" {note}" if note else ""),
        f"Every defense of {' and of '.join(SETUPS)} in the first setting of its sweep, on stand-ins; {ROUNDS} steps, "
        "medians; of the share also the middle half. A step's time has its checks in it. A defense that overrides no "
        "hook whose result is checked has none. The clock is within what it measures: about "
        f"{1e6 * of_clock():.1f} µs of each hook.",
        summary(found),
        markdown(COLUMNS, shown, "lll>l>l"),
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(" ".join(sys.argv[1:]))
