"""Speed of gradient inversion on a batch against a loop over predictions: `python workflow/benchmarks/gia.py`."""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import time
from typing import Any

import numpy as np
from machine import machine
from table import markdown, write

from cutlayer.core.transcript import View
from cutlayer.games.vertical.attacks.gia import GradientInversion
from cutlayer.games.vertical.equations import softmax

PREDICTIONS, LOOPED = 1000, 20
COLUMNS = ["classes", "d", "batch (s)", "loop (s)", "ratio", "greatest difference"]


def seen(rng: np.random.Generator, classes: int, d: int) -> dict[str, np.ndarray]:
    """View of 1,000 predictions of a random model with d passive and 3 active features."""
    weights, X = rng.normal(size=(classes, d + 3)), rng.random((PREDICTIONS, d + 3))
    parts = {"active_features": X[:, d:], "active_weights": weights[:, d:], "passive_weights": weights[:, :d]}
    return parts | {"scores": softmax(X @ weights.T), "bias": np.zeros(classes)}


def attacked(arrays: dict[str, np.ndarray], rows: slice) -> tuple[np.ndarray, float]:
    """Guesses for some rows, and their seconds."""
    part = arrays | {name: arrays[name][rows] for name in ("scores", "active_features")}
    view = View("gia", GradientInversion.sees, part, np.random.default_rng(0))
    start = time.perf_counter()
    guess = GradientInversion().infer(view)
    return guess, time.perf_counter() - start


def measure(classes: int, d: int) -> list[Any]:
    """A row of the table: batch, loop (scaled from its first rows), ratio, greatest difference."""
    arrays = seen(np.random.default_rng(classes * 100 + d), classes, d)
    batch, seconds = attacked(arrays, slice(None))
    single = [attacked(arrays, slice(row, row + 1)) for row in range(LOOPED)]
    loop = sum(took for _, took in single) / LOOPED * PREDICTIONS
    difference = max(np.abs(batch[row] - guess[0]).max() for row, (guess, _) in enumerate(single))
    return [classes, d, f"{seconds:.2f}", f"{loop:.1f}", f"{loop / seconds:.0f}", f"{difference:.0e}"]


if __name__ == "__main__":
    sizes = ((2, 6), (2, 19), (4, 12), (4, 24), (6, 12), (6, 36))
    write(
        __file__,
        "gia on a batch against a loop over predictions",
        machine("numpy") + f" One thread, 1,000 steps, {PREDICTIONS:,} predictions; the loop is timed on {LOOPED}.",
        markdown(COLUMNS, (measure(*size) for size in sizes), ">" * len(COLUMNS)),
    )
