"""half_star: estimates the features by the solution of the score equations closest to the center of [0, 1]^d.

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", proposition 1.
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
class HalfStar(Attack):
    """A^+ b + 1/2 (I - A^+ A) 1 for each prediction; it may leave the box."""

    sees: ClassVar[set[str]] = {"scores", "active_features", "active_weights", "passive_weights", "bias"}
    cheap: ClassVar[bool] = True

    def infer(self, view: View) -> np.ndarray:
        """Estimates (N x d) of the passive features."""
        return polytope.half_star(*linear_system(view))
