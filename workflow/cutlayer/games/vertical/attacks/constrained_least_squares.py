"""constrained_least_squares: a minimizer of ||A x - b|| over [0, 1]^d.

The paper takes whatever its solver returns; here it is the minimizer of least norm, the projection of 0.

Where a defense made the equations contradict the box, the adversary solves the nearest ones that do not.

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", IV.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from cutlayer import polytope
from cutlayer.core.transcript import View
from cutlayer.games.vertical.attack import Attack
from cutlayer.games.vertical.equations import linear_system


@dataclass(frozen=True)
class ConstrainedLeastSquares(Attack):
    """The feasible point of least norm."""

    sees: ClassVar[set[str]] = {"scores", "active_features", "active_weights", "passive_weights", "bias"}

    solver: Literal["exact", "cvxpy"] = "exact"

    def infer(self, view: View) -> np.ndarray:
        """N x d guesses."""
        A, b = linear_system(view)
        return polytope.project(A, polytope.nearest_feasible(A, b), 0.0, solver=self.solver)
