"""constrained_least_squares: estimates the features by a minimizer of ||A x - b|| over [0, 1]^d.

There are many, and the paper takes the one to which its solver converges (cvxpy's default: OSQP). `least_norm` is the
minimizer of least norm, the projection of 0, which depends on no solver; where a defense makes the equations
infeasible in the box, the adversary solves the nearest feasible ones.

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
from cutlayer.polytope import solvers


@dataclass(frozen=True)
class ConstrainedLeastSquares(Attack):
    """Box-constrained least squares: the minimizer of least norm, or a solver's."""

    sees: ClassVar[set[str]] = {"scores", "active_features", "active_weights", "passive_weights", "bias"}

    point: Literal["least_norm", "clarabel", "osqp"] = "least_norm"

    def infer(self, view: View) -> np.ndarray:
        """Estimates (N x d) of the passive features."""
        A, b = linear_system(view)
        if self.point == "least_norm":
            return polytope.project(A, polytope.nearest_feasible(A, b), 0.0)
        return {"clarabel": solvers.with_clarabel, "osqp": solvers.with_osqp}[self.point](A, b)
