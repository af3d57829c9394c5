"""chebyshev_center: estimates the features by the exact Chebyshev center of the feasible set, for few features.

The vertices of {A x = b, 0 <= x <= 1} are enumerated; the estimate is the center of their smallest enclosing ball,
which is minimax optimal.

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", equation 28.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer import polytope
from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.vertical.attack import Attack
from cutlayer.games.vertical.equations import linear_system


@dataclass(frozen=True)
class ChebyshevCenter(Attack):
    """Center of the smallest ball that encloses all feasible points."""

    sees: ClassVar[set[str]] = {"scores", "active_features", "active_weights", "passive_weights", "bias"}

    limits: ClassVar[Limits] = {"limit": (1, 12)}

    limit: int = 6  # most features: the number of vertices grows exponentially

    def skip(self, view: View) -> str:
        """Needs few features, as the number of vertices grows exponentially."""
        d = view.passive_weights.shape[1]
        return f"exact center for at most {self.limit} features, here {d}" if d > self.limit else ""

    def infer(self, view: View) -> np.ndarray:
        """Estimates (N x d) of the passive features."""
        A, b = linear_system(view)
        return polytope.chebyshev_center(A, polytope.nearest_feasible(A, b))[0]
