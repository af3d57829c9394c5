"""What a step takes by torch's own methods of an optimizer, and by `cutlayer.core.descent`.

Run `python workflow/benchmarks/optimizer_steps.py [note]`; it prints a table and writes it beside this file, with the
note. A step is forward, backward and Adam of a small model of `seeds_together`, bottom and top, on one batch and one
thread. Both ways take turns in random order; a ratio is that of a turn of each.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch
from machine import machine
from seeds_together import CASES, RATE, batches, wholes
from table import markdown, write

from cutlayer.core.descent import descend
from cutlayer.plan import plugins

ROUNDS, STEPS = 15, 100
SMALL = ("mlp, adult, paper", "cnn, mnist, quick", "cnn, cifar10, quick", "strided_cnn, celeba, quick")
Step = Callable[[], None]


def ways(case: str) -> list[Step]:
    """A step by torch's methods, and ours, each of a model of its own."""
    name, parameters, inputs, rows = CASES[case]
    model = plugins.create("model", name, parameters)
    (first, second, *_), ((x, labels), *_) = wholes(model, inputs), batches(model, inputs, rows)
    theirs, ours = (torch.optim.Adam(each.parameters(), RATE, fused=True) for each in (first, second))

    def plain() -> None:
        theirs.zero_grad()
        first(x, labels).backward()
        theirs.step()

    return [plain, lambda: descend(ours, second(x, labels))]


def seconds(step: Step) -> float:
    """Of one step."""
    start = time.process_time()
    for _ in range(STEPS):
        step()
    return (time.process_time() - start) / STEPS


def lines() -> Iterator[list[str]]:
    """One for each model."""
    random = np.random.default_rng(0)
    for case in SMALL:
        steps = ways(case)
        for step in steps:
            seconds(step)
        turns = np.array([[*turn(steps, random.permutation(2))] for _ in range(ROUNDS)])
        low, middle, high = np.quantile(turns[:, 0] / turns[:, 1], [0.25, 0.5, 0.75])
        plain, ours = 1e6 * np.median(turns, axis=0)
        yield [case, f"{plain:.0f}", f"{ours:.0f}", f"{middle:.2f}", f"{low:.2f} to {high:.2f}"]


def turn(steps: list[Step], order: np.ndarray) -> list[float]:
    """Seconds of both ways, which are run in this order."""
    found = {int(place): seconds(steps[place]) for place in order}
    return [found[0], found[1]]


def main() -> None:
    """Run the command line."""
    torch.set_num_threads(1)
    write(
        __file__,
        "Steps of an optimizer",
        machine("torch", "numpy"),
        " ".join(sys.argv[1:]) or f"Medians of {ROUNDS} turns of {STEPS} steps; fused Adam.",
        markdown(["model", "torch's, µs", "ours, µs", "times as fast", "middle half"], lines(), "l>>>>"),
    )


if __name__ == "__main__":
    main()
