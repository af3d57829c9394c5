"""undo: an adaptive adversary who inverts the defense, then solves the recovered score equations.

It knows the defense and its parameters, not its random draws, of which these have none:

- pps, minus_identity: weights W' = -W and bias b' = b + W 1 are published. So W = -W' and b = b' + W' 1. A party that
  retrains on 1 - x has W' in terms of 1 - x, and the same formula expresses it in terms of x.
- pps, optimal: W' = W H^T. The least squares attack on it finds H x_ls, x_ls = A^+ A x. Theorem 3's H = -V U' is the
  one that maximizes the error; so -H = V U' is the rotation that *minimizes* it (orthogonal Procrustes): it rotates the
  estimate towards the mean of the features, which the adversary did not know. The estimate is -gamma A'^+ b, in [0, 1],
  with gamma such that its mean is that of the adversary's own features (1/2 if it has none), and no less than 1, for
  the features are longer than their part in the row space of A. It may beat the best attack without a defense.
- score_noise: v_1 follows from A. Scheme 1 adds a vector that depends on v_1 and on the top class, which is unchanged:
  subtract it. Scheme 3: divide the logs of the scores by 1 - budget. Scheme 2: subtract sqrt(budget) v_1 from all
  classes; where the top class was not lifted, that is all, and its own `margin`. Where it was, its score reveals only
  that it was the top class, and that with the noise it was not: two inequalities in place of one equation.
- class_label: nothing can be inverted, for only the top class is revealed. That is k - 1 inequalities: no other class's
  logit exceeds its own. The estimate is the point of the cube nearest to 1/2 that satisfies them.
- rounding: every score lies in an interval, so that log-ratios are bounded: the point nearest to 1/2 that satisfies all
  these inequalities, which the truth does.
- privee, one draw for all rows: its K factors solve N linear equations, for scores sum to 1, and the scores are back to
  the last digits of what is revealed. In a row with a score that these digits do not show, scores lie in intervals of
  the width of these digits. Under `plus` the equations are those of rows without near ties, which cannot have swapped;
  they then tell which of the others have. With a draw for each row, or fewer rows than classes, factors and so scores
  lie in known intervals.
- score_gaussian: nothing can be inverted. The estimate is the most likely point of the cube given the noise.

The result are the equations of an undefended model, and the estimate is their solution in [0, 1]^d nearest to 1/2, as
for rcc2, and as without a defense. Under inequalities: the solution of the other equations, on the nearer bound if it
violates one, which is the nearest point of all, as there is one quantity with two bounds.

Ours, against Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", VII.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cutlayer import polytope
from cutlayer.core.transcript import View
from cutlayer.games.base.defense import description
from cutlayer.games.vertical.attack import Attack
from cutlayer.games.vertical.defenses._noise import deviation
from cutlayer.games.vertical.defenses.privee import stretches
from cutlayer.games.vertical.equations import difference_matrix
from cutlayer.theory.chebyshev import theorem4

from ._inequalities import nearest_within
from ._scores import SLACK, likeliest, rounded, stretched, unstretched, within

UNDONE = ("none", "pps", "score_noise", "class_label", "rounding", "privee", "score_gaussian")
LIFTED = 1e-3  # relative difference of `margin` and the gap of two logs of scores that is rounding


class Model(NamedTuple):
    """The true model up to an additive constant per row: logits = W x + known."""

    weights: np.ndarray  # (k, d)
    known: np.ndarray  # (N, k): the contribution of the adversary's own features and the bias
    logits: np.ndarray  # (N, k)


@dataclass(frozen=True)
class Undo(Attack):
    """Adaptive attack that inverts the defense and solves the recovered equations."""

    knows: ClassVar[str] = "the defense and its parameters"
    sees: ClassVar[set[str]] = {
        "scores", "active_features", "active_weights", "passive_weights", "bias", "defense",
    }  # fmt: skip
    cheap: ClassVar[bool] = True

    def skip(self, view: View) -> str:
        """Needs a defense that it can invert."""
        name = description(view.defense)[0]
        return "" if name in UNDONE else f"for {', '.join(UNDONE)}, here the defense is {name}"

    def infer(self, view: View) -> np.ndarray:
        """Estimates (N x d) of the passive features."""
        name, own = description(view.defense)
        logits = np.log(np.maximum(view.scores, np.finfo(float).tiny))
        seen = Model(view.passive_weights, view.active_features @ view.active_weights.T + view.bias, logits)
        if name == "score_noise":
            return _denoised(seen, own)
        if name == "class_label":
            return _at_the_top(seen)
        if name == "rounding":
            return within(seen.weights, seen.known, *rounded(view.scores, own["decimals"]))
        if name == "privee":
            return _unstretched(seen, view.scores, own)
        if name == "score_gaussian":
            return likeliest(seen.weights, seen.known, view.scores, deviation(**own))
        if name == "pps" and own["transform"] == "optimal":
            return _turned_back(seen, view.active_features)
        return solved(Model(-seen.weights, seen.known + seen.weights.sum(axis=1), logits) if name == "pps" else seen)


def solved(model: Model) -> np.ndarray:
    """The solutions (N, d) in the unit cube nearest to 1/2."""
    J = difference_matrix(len(model.weights))
    return _nearest(J @ model.weights, (model.logits - model.known) @ J.T)


def _nearest(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    if not len(A):
        return np.full((len(b), A.shape[1]), 0.5)
    return polytope.project(A, polytope.nearest_feasible(A, b), 0.5)


def _turned_back(model: Model, own: np.ndarray) -> np.ndarray:
    """The negated least squares solution for the published weights, rescaled to the adversary's mean feature."""
    J = difference_matrix(len(model.weights))
    guess = -polytope.least_squares(J @ model.weights, (model.logits - model.known) @ J.T)
    wanted, found = float(own.mean()) if own.size else 0.5, float(guess.mean())
    return np.clip(guess * (max(1.0, wanted / found) if found > 0 else 1.0), 0, 1)


def _denoised(model: Model, own: Mapping[str, Any]) -> np.ndarray:
    if own["scheme"] == 3:
        return solved(model._replace(logits=model.logits / (1 - own["budget"])))
    J = difference_matrix(len(model.weights))
    v = theorem4(J @ model.weights, J)["direction"]
    top = model.logits == model.logits.max(axis=1, keepdims=True)
    if own["scheme"] == 1:
        noise = np.where(top, v.max(), v)
        noise *= np.sqrt(own["budget"]) / np.linalg.norm(noise, axis=1, keepdims=True)
        return solved(model._replace(logits=model.logits - noise))
    return _unlifted(model, top, np.sqrt(own["budget"]) * v, own["margin"])


def _unlifted(model: Model, top: np.ndarray, noise: np.ndarray, margin: float) -> np.ndarray:
    """Estimates for scheme 2: by all equations where the top class (N, k) was not lifted, else by inequalities."""
    others = np.where(top, -np.inf, model.logits).max(axis=1)
    lifted = model.logits.max(axis=1) - others <= margin * (1 + LIFTED)
    restored = model._replace(logits=model.logits - noise - margin * top)
    guess = np.empty((len(top), model.weights.shape[1]))
    if not lifted.all():
        guess[~lifted] = solved(_some(restored, ~lifted))
    for place in np.unique(top.argmax(axis=1)[lifted]):
        rows = lifted & (top.argmax(axis=1) == place)
        highest = others[rows] - noise[place]  # of the top class: with the noise it did not exceed the next one
        guess[rows] = _between(_some(restored, rows), int(place), highest)
    return guess


def _at_the_top(model: Model) -> np.ndarray:
    """The points (N, d) nearest to 1/2 at which the revealed class has the highest logit."""
    guess = np.empty((len(model.known), model.weights.shape[1]))
    for row, (place, known) in enumerate(zip(model.logits.argmax(axis=1), model.known, strict=True)):
        above = model.weights[place] - np.delete(model.weights, place, axis=0)
        guess[row] = nearest_within(above, np.delete(known, place) - known[place])
    return guess


def _unstretched(model: Model, shown: np.ndarray, own: Mapping[str, Any]) -> np.ndarray:
    bounds = stretches(shown.shape[1], own["rho"], own["form"])
    scores = unstretched(shown, *bounds) if own["draw"] == "call" else None
    if scores is None:
        return within(model.weights, model.known, *stretched(shown, *bounds))
    guess = solved(model._replace(logits=np.log(np.maximum(scores, np.finfo(float).tiny))))
    lost = (scores <= SLACK).any(axis=1)
    bounds = np.maximum(scores[lost] - SLACK, 0), np.minimum(scores[lost] + SLACK, 1)
    guess[lost] = within(model.weights, model.known[lost], *bounds)
    return guess


def _some(model: Model, rows: np.ndarray) -> Model:
    return model._replace(known=model.known[rows], logits=model.logits[rows])


def _between(model: Model, top: int, highest: np.ndarray) -> np.ndarray:
    """Points nearest to 1/2 with the others' logits, and the logit of `top` between their largest and `highest`."""
    rest = np.delete(np.arange(len(model.weights)), top)
    J = difference_matrix(len(rest))
    A, b = J @ model.weights[rest], (model.logits - model.known)[:, rest] @ J.T
    guess = _nearest(A, b)
    row, base = model.weights[top] - model.weights[rest[0]], model.known[:, top] - model.known[:, rest[0]]
    first = model.logits[:, rest[0]] + base
    low, high = model.logits[:, rest].max(axis=1) - first, highest - first
    bound = np.clip(guess @ row, low, np.maximum(low, high))
    broken = ~np.isclose(bound, guess @ row, rtol=0, atol=1e-9)
    if broken.any():
        guess[broken] = _nearest(np.vstack([A, row]), np.column_stack([b, bound])[broken])
    return guess
