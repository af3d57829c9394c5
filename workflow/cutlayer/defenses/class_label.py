"""class_label: reveal (almost) only the predicted class.

The top score goes to 1 and the others to `rest` each; as `rest` goes to 0 the scores become the label.

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", VIII-D.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from .base import Defense, Wire


@dataclass(frozen=True)
class ClassLabel(Defense):
    """Scores that say the class and, for small `rest`, nothing more."""

    rest: float = 1e-3  # score of each class that is not the top one

    def __post_init__(self) -> None:
        if not 0 < self.rest < 0.5:
            raise InputError("defense.class_label", f"rest = {self.rest}", "between 0 and 0.5")

    def reveal(self, logits: np.ndarray, wire: Wire) -> np.ndarray:
        """One score near 1 a row; of several maximizers the first, as argmax has it."""
        classes = logits.shape[1]
        rest = min(self.rest, 0.5 / classes)
        scores = np.full(logits.shape, rest)
        scores[np.arange(len(logits)), logits.argmax(axis=1)] = 1 - (classes - 1) * rest
        return scores
