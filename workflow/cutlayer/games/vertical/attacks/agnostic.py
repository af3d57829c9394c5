"""agnostic: predicts the scores from the adversary's own features, then solves the score equations.

It reads no score, so that no defense of scores changes it, and rows that were never scored are attacked like others.
The active party has labels and its features of all training rows: multinomial logistic regression on these (with a
small penalty, without which separable classes have no optimum) gives z^ = W^ y + b^ in place of the logits, and the
equations J W_pas x = J (z^ - W_act y - b). Their solution is the nearest one to 1/2, or in the cube (`rcc2`; where
there is none, that of the nearest equations that have one). With `scores` the regression also learns from rows that
were scored, with the revealed scores in place of labels: each half of the attacked rows by the scores of the other
half, so that no guess depends on its own row's score.

Varasteh, "Privacy Against Agnostic Inference Attacks in Vertical Federated Learning", 2023. Its text was read in
excerpts: the penalty, the form rcc2 and the halves are ours.
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

from ._scores import normalized


@dataclass(frozen=True)
class Agnostic(Attack):
    """Equation solving with the logits that the adversary's own features predict."""

    sees: ClassVar[set[str]] = {
        "own_features", "own_labels", "active_features", "active_weights", "passive_weights", "bias", "scores",
    }  # fmt: skip
    limits: ClassVar[Limits] = {"l2": (1e-9, None)}
    cheap: ClassVar[bool] = True

    form: Literal["half_star", "rcc2"] = "rcc2"
    l2: float = 1e-5
    scores: bool = False  # whether it learns from other rows' scores too; else it reads none

    def infer(self, view: View) -> np.ndarray:
        """Estimates (N x d) of the passive features."""
        J = difference_matrix(len(view.bias))
        known = view.active_features @ view.active_weights.T + view.bias
        A, b = J @ view.passive_weights, (self._logits(view) - known) @ J.T
        if self.form == "half_star":
            return polytope.half_star(A, b)
        return polytope.project(A, polytope.nearest_feasible(A, b), 0.5)

    def _logits(self, view: View) -> np.ndarray:
        """The predicted logits (N, k) of the attacked rows."""
        X, Y, attacked = view.own_features, np.eye(len(view.bias))[view.own_labels], view.active_features
        if not self.scores:
            return self._predicted(X, Y, attacked)
        shown, even = normalized(view.scores), np.arange(len(attacked)) % 2 == 0
        found = np.empty_like(shown)
        probable = shown.sum(axis=1) > 0.5  # where nothing is left above 0 there is nothing to learn
        for rows in (even, ~even):
            others = ~rows & probable
            learned = np.vstack([X, attacked[others]]), np.vstack([Y, shown[others]])
            found[rows] = self._predicted(*learned, attacked[rows])
        return found

    def _predicted(self, X: np.ndarray, Y: np.ndarray, attacked: np.ndarray) -> np.ndarray:
        """The logits (N, k) of rows (N, a) by the regression of classes Y (n, k) on X (n, a)."""
        a = X.shape[1]
        penalties = np.append(np.full(a, self.l2), 0.0)
        weights, bias = optimum(Problem(X, Y, penalties), np.ones((1, a)), np.zeros((1, a)), "agnostic")
        return np.asarray(attacked @ weights[0].T + bias[0])
