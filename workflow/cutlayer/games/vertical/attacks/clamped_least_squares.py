"""clamped_least_squares: estimates the features by least squares, clamped to [0, 1].

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", VIII-A.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer import polytope
from cutlayer.core.transcript import View
from cutlayer.games.vertical.attack import Attack
from cutlayer.games.vertical.equations import linear_system


@dataclass(frozen=True)
class ClampedLeastSquares(Attack):
    """Least squares solution A^+ b clamped to the box; it need not solve the equations any more."""

    sees: ClassVar[set[str]] = {"scores", "active_features", "active_weights", "passive_weights", "bias"}
    cheap: ClassVar[bool] = True

    def infer(self, view: View) -> np.ndarray:
        """Estimates (N x d) of the passive features."""
        return polytope.least_squares(*linear_system(view)).clip(0, 1)
