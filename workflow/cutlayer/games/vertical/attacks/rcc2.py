"""rcc2: estimates the features by the point of the feasible set closest to the center of [0, 1]^d.

It relaxes the Chebyshev center's objective by ||x||^2 <= 1'x (proposition 3, remark 2).

Where a defense makes the equations infeasible in the box, the adversary solves the nearest feasible ones.

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", proposition 3.
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
class RelaxedChebyshevCenter2(Attack):
    """Projection of the center 1/2 on {A x = b, 0 <= x <= 1}."""

    sees: ClassVar[set[str]] = {"scores", "active_features", "active_weights", "passive_weights", "bias"}

    solver: Literal["exact", "cvxpy"] = "exact"

    def infer(self, view: View) -> np.ndarray:
        """Estimates (N x d) of the passive features."""
        A, b = linear_system(view)
        return polytope.project(A, polytope.nearest_feasible(A, b), 0.5, solver=self.solver)
