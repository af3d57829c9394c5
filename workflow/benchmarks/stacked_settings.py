"""Does it pay to train the settings of a sweep together, as one batch of models? Measured against one after the other.

Run `python workflow/benchmarks/stacked_settings.py [note]`; it prints a table and what follows from it, and writes both
beside this file, with the note. All train mlp on the stand-in of adult, which has its columns, at the sizes of two
scales of params.yaml: alone by the protocol's own step, together by `stacked`, which must first compute the same. In a
round each way takes STEPS steps of all settings on the same batches, in random order.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import itertools
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import partial

import numpy as np
import torch
from machine import machine
from stacked import Stacked
from table import markdown, write
from trials import at_scale

from cutlayer.data.datasets.base import Table
from cutlayer.data.standins.tabular import stand_in
from cutlayer.games.base.protocol import Task
from cutlayer.games.split_server import protocol as split_server
from cutlayer.games.split_server.data import ServerData, prepared
from cutlayer.plan import plugins
from cutlayer.plan.plan import Plan
from cutlayer.plan.sweeps import settings_of

GAME, SETUP, SCALES, DEFENSES, COUNTS = "split_server", "adult_sex", ("paper", "quick"), ("none", "adv"), (2, 3, 4, 8)
ROUNDS, WARM_UP, STEPS = 20, 2, 5
CHECKED, APART = 20, 1e-9  # steps after which the parameters are compared in float64, and how far apart they may be
PAYS = 2  # times as fast on one thread; fixed before anything was measured
ALL_ROWS = {"tcpo_exact", "tcpo_exact_sgd"}  # that pass over all rows


@dataclass(frozen=True)
class Case:
    """What is trained: a defense in some settings, at the sizes of a scale."""

    scale: str
    defense: str
    count: int

    def task(self, plan: Plan, table: Table) -> Task:
        """A task whose settings differ in a weight, if the defense has one."""
        parameters = [{"weight": 1.0 + place} if self.defense == "adv" else {} for place in range(self.count)]
        create = partial(plugins.create, "defense", self.defense, game=GAME)
        defenses = {str(place): create(parameters=own) for place, own in enumerate(parameters)}
        settings = plan.setups[SETUP]  # with normalized features, as `stacked` has them
        settings = settings | {"model": settings["model"] | {"normalized": True}}
        return Task(SETUP, self.defense, 0, table, settings, defenses)


class Doubled(ServerData):
    """The same rows in float64."""

    def encode(self, rows: torch.Tensor) -> dict[str, torch.Tensor]:
        """As the encoder takes them."""
        return {name: tensor.double() for name, tensor in super().encode(rows).items()}


class Pair:
    """The settings of a task, to be trained alone and together."""

    def __init__(self, task: Task, data: ServerData) -> None:
        self.data = data
        self.alone, again = (
            [split_server._meet(task, name, defense, self.data) for name, defense in task.defenses.items()]
            for _ in range(2)
        )
        self.together = Stacked(again, self.data)
        self._batches = itertools.cycle(self.data.batches(task, 0))

    def batches(self, number: int) -> list[torch.Tensor]:
        """The next ones."""
        return list(itertools.islice(self._batches, number))

    def one_by_one(self, batches: list[torch.Tensor]) -> None:
        """One setting after the other, as the protocol does it."""
        for parties, rows in itertools.product(self.alone, batches):
            split_server._step(parties, self.data, rows)

    def at_once(self, batches: list[torch.Tensor]) -> None:
        """All settings in each step."""
        for rows in batches:
            self.together.step(rows)

    def measure(self) -> np.ndarray:
        """(rounds, 3, 2) seconds a step: alone, together, together on two threads; of processor time, of the clock."""
        ways, order = [(self.one_by_one, 1), (self.at_once, 1), (self.at_once, 2)], np.random.default_rng(0)
        seconds = np.zeros((WARM_UP + ROUNDS, len(ways), 2))
        for taken in seconds:
            batches = self.batches(STEPS)
            for place in order.permutation(len(ways)):
                way, threads = ways[place]
                taken[place] = timed(partial(way, batches), threads)
        return seconds[WARM_UP:] / STEPS


def differences(task: Task, data: ServerData) -> tuple[float, float]:
    """How far apart alone and together are after the same steps in float64, see `Stacked`."""
    torch.set_default_dtype(torch.float64)
    pair = Pair(task, Doubled(**{field.name: getattr(data, field.name) for field in fields(data)}))
    batches = pair.batches(CHECKED)
    pair.one_by_one(batches)
    pair.at_once(batches)
    torch.set_default_dtype(torch.float32)
    return pair.together.differences(pair.alone)


def timed(call: Callable[[], None], threads: int) -> tuple[float, float]:
    """Seconds of this thread's processor time, and of the clock."""
    torch.set_num_threads(threads)
    clock, own = time.perf_counter(), time.thread_time()
    call()
    own, clock = time.thread_time() - own, time.perf_counter() - clock
    torch.set_num_threads(1)
    return own, clock


@dataclass(frozen=True)
class Row:
    """What was measured of a case."""

    case: Case
    differences: tuple[float, float]
    seconds: np.ndarray

    @property
    def one_thread(self) -> np.ndarray:
        """(rounds,) how many times as fast together is, in processor time."""
        return self.seconds[:, 0, 0] / self.seconds[:, 1, 0]

    @property
    def both_cores(self) -> np.ndarray:
        """(rounds,) the same for two threads, by the clock; two processes take half as long as one."""
        return self.seconds[:, 0, 1] / 2 / self.seconds[:, 2, 1]

    @property
    def cells(self) -> list[str]:
        """As it is shown."""
        alone, together = np.median(self.seconds[:, :2, 0], axis=0) * 1e3
        case = [self.case.scale, self.case.defense, str(self.case.count), f"{alone:.2f}", f"{together:.2f}"]
        return [*case, *middle(self.one_thread), *middle(self.both_cores)]


def middle(ratios: np.ndarray) -> list[str]:
    """Two cells: the median, the middle half."""
    low, median, high = np.quantile(ratios, [0.25, 0.5, 0.75])
    return [f"{median:.2f}", f"{low:.2f} to {high:.2f}"]


def measured(plans: dict[str, Plan], table: Table) -> Iterator[Row]:
    """Every case, once both ways have been seen to compute the same."""
    for case in itertools.starmap(Case, itertools.product(SCALES, DEFENSES, COUNTS)):
        task = case.task(plans[case.scale], table)
        data = prepared(task)
        apart = differences(task, data)
        if apart[0] > APART:
            raise SystemExit(f"{case}: together is not what alone is, {apart[0]:.0e} apart")
        yield Row(case, apart, Pair(task, data).measure())


def enough(number: int) -> int:
    """The least number of settings measured that is no less."""
    return min(count for count in COUNTS if count >= number)


def swept(plan: Plan) -> set[int]:
    """How many settings the sweeps of a scale have."""
    variants = [plan.defense(SETUP, name) for name in plan.variants.reasons("defense", [SETUP])]
    return {len(settings_of(variant)) for variant in variants} - {1}


def compared(rows: list[Row], plan: Plan) -> str:
    """How fast together is in the sweeps that a scale has."""
    least, most = min(swept(plan)), enough(max(swept(plan)))
    some = [row for row in rows if row.case.scale == plan.scale and least <= row.case.count <= most]
    one, both = (np.median([getattr(row, kind) for row in some], axis=1) for kind in ("one_thread", "both_cores"))
    faster = sum(one > PAYS)
    pays = "pays" if faster == len(one) else "does not pay" if not faster else "pays in some of them"
    return (
        f"Scale {plan.scale}: the sweeps of {SETUP} have {least} to {most} settings. There together is "
        f"{one.min():.2f} to {one.max():.2f} times as fast on one thread: it {pays}, if more than {PAYS} times is "
        f"meant. Two threads are {both.min():.2f} to {both.max():.2f} times as fast as two processes at a time."
    )


def runs(plan: Plan, table: Table) -> dict[str, tuple[int, float]]:
    """Of each defense its number of settings in a sweep, and the processor time in seconds of one seed's run."""
    taken = {}
    for name in plan.variants.reasons("defense", [SETUP]):
        variant = plan.defense(SETUP, name)
        create = partial(plugins.create, "defense", variant["use"], game=GAME)
        defenses = {label: create(parameters=own) for label, own in settings_of(variant).items()}
        start = time.thread_time()
        split_server.SplitServer().run(Task(SETUP, name, 0, table, plan.setups[SETUP], defenses))
        taken[name] = len(defenses), time.thread_time() - start
    return taken


def saved(rows: list[Row], taken: dict[str, tuple[int, float]]) -> str:
    """The share of the quick runs' time that training together could save at most."""
    best = {
        n: max(float(np.median(row.one_thread)) for row in rows if (row.case.scale, row.case.count) == ("quick", n))
        for n in COUNTS
    }
    spared = {name: seconds * (1 - 1 / best[enough(n)]) for name, (n, seconds) in taken.items() if n > 1}
    total = sum(seconds for _, seconds in taken.values())
    looks = [name for name in spared if name in ALL_ROWS]
    others = [name for name in spared if name not in ALL_ROWS]
    return (
        f"The runs of {SETUP} at scale quick, all its defenses, take {total:.1f} s of processor time a seed. "
        "If every run of several settings became shorter by as much as its steps, "
        f"{sum(spared[name] for name in others) / total:.0%} of that would be saved in {', '.join(others)}, and with "
        f"{', '.join(looks)} {sum(spared.values()) / total:.0%}. These are upper bounds: passes over all rows, which "
        "the latter make every few steps, are large products as they are, and what is recorded after each epoch gains "
        "nothing; nor do the attacks, which are not counted."
    )


def same(rows: list[Row]) -> str:
    """How nearly both ways compute the same."""
    most, free = np.max([row.differences for row in rows], axis=0)
    return (
        f"After {CHECKED} steps in float64 both ways are within {most:.0e} of each other, relative, in every weight, "
        f"bias and running variance, and within {free:.0e} in the bias before the normalization and in the running "
        "mean: the normalization takes that bias away, so that it has no gradient but rounding, of which Adam makes "
        "steps."
    )


def main(note: str) -> None:
    """Write the table and what follows from it."""
    plans, adult = {scale: at_scale(scale) for scale in SCALES}, stand_in(plugins.create("dataset", "adult"))
    ratios = ["times as fast", "middle half", "both cores", "middle half"]
    rows: list[Row] = []
    table = markdown(
        ["scale", "defense", "settings", "alone ms", "together ms", *ratios],
        (rows.append(row) or row.cells for row in measured(plans, adult)),
        "ll>>>>l>l",
    )
    write(
        __file__,
        "The settings of a sweep trained together, or one after the other",
        machine("torch", "numpy") + (f" {note}" if note else ""),
        f"mlp: 13 columns of adult, one-hot, the sizes of two scales. {ROUNDS} rounds, in each {STEPS} steps of every "
        "setting alone, of all together, and of all together on two threads, on the same batches and in random order. "
        "Times are processor time on one thread of a step of all settings, medians. Times as fast: median and middle "
        "half of the rounds' ratios, on one thread in processor time; both cores: by the clock, two threads against "
        "two processes at a time, taken to need half of what one does.",
        table,
        *(compared(rows, plans[scale]) for scale in SCALES),
        saved(rows, runs(plans["quick"], adult)),
        same(rows),
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(" ".join(sys.argv[1:]))
