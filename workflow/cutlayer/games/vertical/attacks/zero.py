"""zero: guess 0 for every feature.

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", VIII-A.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.core.transcript import View
from cutlayer.games.vertical.attack import Attack


@dataclass(frozen=True)
class Zero(Attack):
    """A blind guess that uses nothing but the number of features."""

    sees: ClassVar[set[str]] = {"scores", "passive"}
    cheap: ClassVar[bool] = True

    def infer(self, view: View) -> np.ndarray:
        """N x d guesses."""
        return np.full((len(view.scores), len(view.passive)), 0.0)
