"""How much a guess about an attribute gives away."""

from __future__ import annotations

import numpy as np

from cutlayer.core.transcript import Arrays
from cutlayer.games.base.attack import GuessSpec
from cutlayer.metrics.attributes import attribute_leak


def leak(guess: np.ndarray, truth: Arrays, target: str) -> dict[str, float]:
    """Metrics of class scores (m, values), or (epochs, m, values): the last epoch's, and the largest of each.

    A maximum over epochs is biased upwards: an adversary without the truth cannot pick the epoch.
    """
    return attribute_leak(guess, truth[target])


def guess_spec(seen: Arrays, target: str) -> GuessSpec:
    """Probabilities of the values for each attacked row, of the trained encoder or by epoch."""
    rows = seen["intercepted"].shape[1] if target == "training_attribute" else len(seen["attacked"])
    return GuessSpec((rows, int(seen["values"])), by_epoch=True)
