"""least_squares: estimates the features by the solution of the score equations of smallest norm, A^+ b.

It is the equation solving attack (ESA) of Luo et al., "Feature Inference Attack on Model Predictions in
Vertical Federated Learning". It may leave [0, 1]^d.

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", IV.
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
class LeastSquares(Attack):
    """Least squares solution A^+ b for each prediction."""

    sees: ClassVar[set[str]] = {"scores", "active_features", "active_weights", "passive_weights", "bias"}
    cheap: ClassVar[bool] = True

    def infer(self, view: View) -> np.ndarray:
        """Estimates (N x d) of the passive features."""
        return polytope.least_squares(*linear_system(view))
