"""How much a guess about an attribute gives away."""

from __future__ import annotations

import numpy as np

from cutlayer.core.errors import InputError
from cutlayer.core.transcript import Arrays
from cutlayer.metrics.attributes import attribute_leak


def leak(guess: np.ndarray, truth: Arrays, target: str) -> dict[str, float]:
    """Metrics of class scores (m, values), or (epochs, m, values): the last epoch's, and the largest of each.

    A maximum over epochs is biased upwards: an adversary without the truth cannot pick the epoch.
    """
    attribute = truth[target]
    if guess.shape[-2:-1] != attribute.shape:
        raise InputError("attributes.leak", f"a guess has the shape {guess.shape}", f"{len(attribute)} rows are meant")
    return attribute_leak(guess, attribute)
