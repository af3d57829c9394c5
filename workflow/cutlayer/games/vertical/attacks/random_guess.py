"""random_guess: draws every feature uniformly from [0, 1]; a baseline.

Its error exceeds that of `half` by 1/12 for any data (lemma 1).

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", VIII-A.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.core.transcript import View
from cutlayer.games.vertical.attack import Attack


@dataclass(frozen=True)
class RandomGuess(Attack):
    """Random baseline: uniform features; it uses no scores."""

    sees: ClassVar[set[str]] = {"scores", "passive"}
    cheap: ClassVar[bool] = True

    def infer(self, view: View) -> np.ndarray:
        """Estimates (N x d) of the passive features."""
        return view.rng.random((len(view.scores), len(view.passive)))
