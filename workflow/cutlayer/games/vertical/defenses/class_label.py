"""class_label: reveals (almost) only the predicted class.

All scores but the top one become `rest`, the top one nearly 1; as `rest` goes to 0 the scores become the label.

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", VIII-D.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.core.limits import Limits
from cutlayer.games.vertical.defense import Context, Defense


@dataclass(frozen=True)
class ClassLabel(Defense):
    """Scores that reveal the predicted class and, for small `rest`, nothing more."""

    limits: ClassVar[Limits] = {"rest": (1e-300, 0.49)}

    rest: float = 1e-3  # score of each class that is not the top one, at most half of 1/k

    def reveal(self, logits: np.ndarray, context: Context) -> np.ndarray:
        """Scores with one near 1 in each row; of several maximizers the first, as for argmax."""
        classes = logits.shape[1]
        rest = min(self.rest, 0.5 / classes)
        scores = np.full(logits.shape, rest)
        scores[np.arange(len(logits)), logits.argmax(axis=1)] = 1 - (classes - 1) * rest
        return scores
