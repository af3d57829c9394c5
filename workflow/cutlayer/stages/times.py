"""Times: seconds of a training step under each defense, measured alternately in one job.

Times are not reproducible: they depend on the machine and its load. Every round takes one step of each defense in
random order, so that a disturbance hits all alike; the median over rounds is reported.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cutlayer.core import artifacts
from cutlayer.core.progress import steps
from cutlayer.core.seeds import generator
from cutlayer.data.normalised import read
from cutlayer.games.base.checks import deferred
from cutlayer.games.base.protocol import Task
from cutlayer.plan import plugins
from cutlayer.plan.sweeps import settings_of

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
    stepper = importlib.import_module(f"cutlayer.games.{settings['protocol']}.protocol").stepper
    table, _ = read(data, settings["dataset"])
    rows: list[dict[str, Any]] = []
    settled = {(name, label): (v["use"], own) for name, v in variants.items() for label, own in settings_of(v).items()}
    for seed in steps(seeds, f"times {setup}"):
        tasks = [
            Task(setup, name, seed, table, settings, {label: plugins.create("defense", *method, settings["protocol"])})
            for (name, label), method in settled.items()
        ]
        taken = [stepper(task) for task in tasks]
        with deferred():  # as in `Protocol.outcome`
            rounds = [
                _round(taken, generator("times", setup, seed, i)) for i in range(WARM_UP + settings["timed_steps"])
            ]
        seconds = np.median(rounds[WARM_UP:], axis=0)
        for (name, label), own in zip(settled, seconds, strict=True):
            who = {"setup": setup, "defense": name, "setting": label, "seed": seed}
            rows.append(who | {"metric": "seconds_per_step", "value": float(own)})
            rows.append(who | {"metric": "time_ratio", "value": float(own / seconds[0])})
    artifacts.write_rows(output, rows)


def _round(steppers: Sequence[Callable[[], None]], draw: np.random.Generator) -> list[float]:
    """Seconds of one step of each, taken in random order."""
    seconds = [0.0] * len(steppers)
    for place in draw.permutation(len(steppers)):
        start = time.perf_counter()
        steppers[place]()
        seconds[place] = time.perf_counter() - start
    return seconds
