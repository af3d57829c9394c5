"""agnostic: predicts the scores from the adversary's own features, then solves the score equations.

It sees no score, so that no defense of scores changes it, and rows that were never scored are attacked like others. The
active party has labels and its features of all training rows: multinomial logistic regression on these (with a small
penalty, without which separable classes have no optimum) gives z^ = W^ y + b^ in place of the logits, and the equations
J W_pas x = J (z^ - W_act y - b). Their solution is the nearest one to 1/2, or in the cube (`rcc2`; where there is none,
that of the nearest equations that have one).

Varasteh, "Privacy Against Agnostic Inference Attacks in Vertical Federated Learning", 2023. Its text was read in
excerpts: the penalty and the form rcc2 are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from cutlayer import polytope
from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.vertical.attack import Attack
from cutlayer.games.vertical.equations import difference_matrix
from cutlayer.games.vertical.models._optimum import Problem, optimum


@dataclass(frozen=True)
class Agnostic(Attack):
    """Equation solving with the logits that the adversary's own features predict."""

    sees: ClassVar[set[str]] = {
        "own_features", "own_labels", "active_features", "active_weights", "passive_weights", "bias",
    }  # fmt: skip
    limits: ClassVar[Limits] = {"l2": (1e-9, None)}
    cheap: ClassVar[bool] = True

    form: Literal["half_star", "rcc2"] = "rcc2"
    l2: float = 1e-5

    def infer(self, view: View) -> np.ndarray:
        """Estimates (N x d) of the passive features."""
        J = difference_matrix(len(view.bias))
        known = view.active_features @ view.active_weights.T + view.bias
        A, b = J @ view.passive_weights, (self._predicted(view) - known) @ J.T
        if self.form == "half_star":
            return polytope.half_star(A, b)
        return polytope.project(A, polytope.nearest_feasible(A, b), 0.5)

    def _predicted(self, view: View) -> np.ndarray:
        """The logits (N, k) of the attacked rows, from the adversary's own features alone."""
        labels, a = np.eye(len(view.bias))[view.own_labels], view.own_features.shape[1]
        penalties = np.append(np.full(a, self.l2), 0.0)
        weights, bias = optimum(
            Problem(view.own_features, labels, penalties), np.ones((1, a)), np.zeros((1, a)), "agnostic"
        )
        return view.active_features @ weights[0].T + bias[0]
