"""rcc1: estimates the features by a relaxed Chebyshev center of the feasible set, a semidefinite program.

The set {(x x', x)} is relaxed to {(D, x): D >= x x'} (equations 14 to 16); the matrix inequality of equation
16 is kept, where published code has a condition on the diagonal (erratum 7).

Where a defense makes the equations infeasible in the box, the adversary solves the nearest feasible ones.

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", proposition 2.
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
class RelaxedChebyshevCenter1(Attack):
    """Relaxed Chebyshev center: the solution of the semidefinite program of equation 31."""

    sees: ClassVar[set[str]] = {"scores", "active_features", "active_weights", "passive_weights", "bias"}

    solver: Literal["exact", "cvxpy"] = "exact"

    def infer(self, view: View) -> np.ndarray:
        """Estimates (N x d) of the passive features."""
        A, b = linear_system(view)
        return polytope.relaxed_center(A, polytope.nearest_feasible(A, b), solver=self.solver)
