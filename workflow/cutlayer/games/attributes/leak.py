"""Leakage metrics of attribute inference."""

from __future__ import annotations

import numpy as np

from cutlayer.core.transcript import Arrays
from cutlayer.games.base.attack import GuessSpec
from cutlayer.metrics.attributes import attribute_leak


def leak(guess: np.ndarray, truth: Arrays, target: str) -> dict[str, float]:
    """Leakage metrics of scores (m, values), or of (epochs, m, values): after the last epoch, and each one's maximum.

    A maximum over epochs is biased upwards: an adversary without the truth cannot select the epoch.
    """
    return attribute_leak(guess, truth[target])


def guess_spec(seen: Arrays, target: str) -> GuessSpec:
    """The expected guess: probabilities of the values for each attacked row, of the trained encoder or by epoch."""
    rows = seen["intercepted"].shape[1] if target == "training_attribute" else len(seen["attacked"])
    return GuessSpec((rows, int(seen["values"])), by_epoch=True)
