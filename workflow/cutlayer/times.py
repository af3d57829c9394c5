"""Times: what a training step costs under one defense after the other, measured side by side in one job.

Times are no results that repeat: they depend on the machine and on what else it does. Every round takes one step of
each defense in random order, so that a disturbance hits all alike; the median over rounds is reported.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import artifacts, plugins
from .datasets import read
from .progress import steps
from .protocols.base import Task
from .protocols.split import stepper
from .runs import settings_of
from .seeds import generator

WARM_UP = 3  # rounds that are not counted


def measure(
    setup: str,
    settings: Mapping[str, Any],
    variants: Mapping[str, Mapping[str, Any]],
    data: str | Path,
    seeds: Sequence[int],
    output: str | Path,
) -> None:
    """Write setup, defense, setting, seed, metric, value: `seconds_per_step`, and `time_ratio` to the first variant."""
    table, _ = read(data, settings["dataset"])
    rows: list[dict[str, Any]] = []
    for seed in steps(seeds, f"times {setup}"):
        taken = [stepper(_task(setup, name, seed, table, settings, variant)) for name, variant in variants.items()]
        rounds = [_round(taken, generator("times", setup, seed, i)) for i in range(WARM_UP + settings["timed_steps"])]
        seconds = np.median(rounds[WARM_UP:], axis=0)
        for name, own in zip(variants, seconds, strict=True):
            who = {"setup": setup, "defense": name, "setting": "", "seed": seed}
            rows.append(who | {"metric": "seconds_per_step", "value": float(own)})
            rows.append(who | {"metric": "time_ratio", "value": float(own / seconds[0])})
    artifacts.write_rows(output, rows)


def _task(
    setup: str, name: str, seed: int, table: Any, settings: Mapping[str, Any], variant: Mapping[str, Any]
) -> Task:
    (parameters,) = settings_of(variant).values()
    return Task(setup, name, seed, table, settings, {"": plugins.create("defense", variant["use"], parameters)})


def _round(steppers: Sequence[Callable[[], None]], draw: np.random.Generator) -> list[float]:
    """The seconds of one step of each, taken in random order."""
    seconds = [0.0] * len(steppers)
    for place in draw.permutation(len(steppers)):
        start = time.perf_counter()
        steppers[place]()
        seconds[place] = time.perf_counter() - start
    return seconds
