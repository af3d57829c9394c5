"""What it costs to follow rows through a training in the split protocol: time of a step, and size of a transcript.

Run `python workflow/benchmarks/watched_rows.py [note]`, after `make data`; it prints a table and writes it beside this
file, with the note. Each setup is trained as scale quick has it, undefended. A round trains twice, with and without
watched rows, in random order; a training's time is that of all of its steps, its batches' preparation included.
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
from trials import at_scale, read

from cutlayer.games.base.protocol import Outcome, Task
from cutlayer.plan import plugins

SETUPS = ("criteo", "avazu", "digits_vs_rest", "mnist")
ROUNDS, WARM_UP = 15, 1


def measure(setup: str) -> tuple[np.ndarray, Outcome]:
    """Seconds of processor time (rounds, 2) of a training without and with watched rows, and what the latter left."""
    settings, protocol = at_scale("quick").setups[setup], plugins.create("protocol", "split")
    table, known = read(settings["dataset"]), settings["known"]
    without: dict[str, Any] = {key: value for key, value in known.items() if key != "watched"}
    kinds = [settings | {"known": own} for own in (without, known)]
    order, seconds = np.random.default_rng(0), np.zeros((WARM_UP + ROUNDS, 2))
    outcome = Outcome()
    for taken in seconds:
        for place in order.permutation(2):
            task = Task(setup, "none", 0, table, kinds[place], {"": plugins.create("defense", "none", {}, "split")})
            start = time.process_time()
            found = protocol.run(task)
            taken[place] = time.process_time() - start
            outcome = found if place else outcome
    return seconds[WARM_UP:], outcome


def rows(setup: str) -> Iterator[list[str]]:
    """The table's row for a setup."""
    seconds, outcome = measure(setup)
    steps = len(outcome.transcripts[""]["batch_squares"])
    ratio = seconds[:, 1] / seconds[:, 0]
    low, middle, high = np.quantile(ratio, [0.25, 0.5, 0.75])
    sizes = [
        sum(array.nbytes for name, array in part.items() if name.startswith(("watched", "batch_"))) / 1e6
        for part in (outcome.transcripts[""], outcome.shared)
    ]
    step, more = np.median(seconds[:, 0]) / steps, np.median(seconds[:, 1] - seconds[:, 0]) / steps
    shape = " x ".join(map(str, outcome.transcripts[""]["watched_gradients"].shape))
    yield [
        setup, shape, str(steps), f"{step * 1e3:.2f}", f"{more * 1e6:.0f}", f"{middle:.3f}",
        f"{low:.3f} to {high:.3f}", *(f"{size:.2f}" for size in sizes),
    ]  # fmt: skip


def main(note: str) -> None:
    """Write the table."""
    columns = [
        "setup", "epochs, rows, width", "steps", "ms a step", "more, us a step", "ratio", "middle half",
        "MB a setting", "MB shared",
    ]  # fmt: skip
    write(
        __file__,
        "Rows that are followed through a training",
        machine("torch", "numpy") + " One thread, processor time." + (f" {note}" if note else ""),
        f"Scale quick, undefended, {ROUNDS} rounds, each one training without and one with watched rows; the ratio is "
        "of the same round: median and middle half. The time a step is the whole training's over its steps.",
        "A seed's transcript has the first size once for each setting of a sweep, and the second once.",
        markdown(columns, (row for setup in SETUPS for row in rows(setup)), "ll>>>>l>>"),
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(" ".join(sys.argv[1:]))
