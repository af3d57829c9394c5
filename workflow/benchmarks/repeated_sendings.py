"""What it costs to keep the means of repeated sendings in the split_server protocol: time of a run, and megabytes.

Run `python workflow/benchmarks/repeated_sendings.py [note]`, after `make data`; it prints a table and writes it beside
this file, with the note. Each setup is trained as scale quick has it. A round trains twice, with the scale's `queries`
and with one, in random order; a run's time is that of its training and of all that goes into its transcript.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import sys
import time
from collections.abc import Iterator

import numpy as np
import torch
from machine import machine
from table import markdown, write
from trials import at_scale, read

from cutlayer.games.base.protocol import Outcome, Task
from cutlayer.plan import plugins

SETUPS = ("adult_sex_poisoned", "adult_relationship_poisoned", "diabetes_sex_poisoned")
DEFENSES = ("none", "gaussian_features")
ROUNDS, WARM_UP = 15, 1


def measure(setup: str, name: str) -> tuple[np.ndarray, Outcome]:
    """Seconds of processor time (rounds, 2) of a run with one query and with all, and what the latter left."""
    settings, protocol = at_scale("quick").setups[setup], plugins.create("protocol", "split_server")
    table, records = read(settings["dataset"]), settings["records"]
    kinds = [settings | {"records": own} for own in (records | {"queries": 1}, records)]
    defense = plugins.create("defense", name, {}, "split_server")
    order, seconds = np.random.default_rng(0), np.zeros((WARM_UP + ROUNDS, 2))
    outcome = Outcome()
    for taken in seconds:
        for place in order.permutation(2):
            start = time.process_time()
            found = protocol.run(Task(setup, name, 0, table, kinds[place], {"": defense}))
            taken[place] = time.process_time() - start
            outcome = found if place else outcome
    return seconds[WARM_UP:], outcome


def rows() -> Iterator[list[str]]:
    """The table."""
    for setup in SETUPS:
        for name in DEFENSES:
            seconds, outcome = measure(setup, name)
            low, middle, high = np.quantile(seconds[:, 1] / seconds[:, 0], [0.25, 0.5, 0.75])
            seen = outcome.transcripts[""]
            means = sum(array.nbytes for part, array in seen.items() if part.endswith("_mean")) / 1e6
            whole = sum(array.nbytes for array in (seen | outcome.shared).values()) / 1e6
            yield [
                setup, name, f"{np.median(seconds[:, 0]):.2f}", f"{middle:.3f}", f"{low:.3f} to {high:.3f}",
                f"{means:.2f}", f"{whole:.2f}",
            ]  # fmt: skip


def main(note: str) -> None:
    """Write the table."""
    columns = ["setup", "defense", "s a run", "ratio", "middle half", "MB of means", "MB of all"]
    queries = at_scale("quick").setups[SETUPS[0]]["records"]["queries"]
    write(
        __file__,
        "Rows that are sent several times",
        machine("torch", "numpy") + " One thread, processor time." + (f" {note}" if note else ""),
        f"Scale quick, {ROUNDS} rounds, each one run with one query and one with {queries}; the ratio is of the same "
        "round: median and middle half.",
        "Nothing is done in a step of the training. Where no noise is on what the adversary sees, nothing is kept. The "
        "megabytes are of one setting of a sweep and one seed; `all` has what all settings share, too.",
        markdown(columns, rows(), "ll>>l>>"),
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(" ".join(sys.argv[1:]))
