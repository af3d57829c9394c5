"""gia: gradient inversion attack; minimizes the divergence between the estimate's scores and the revealed scores.

Every step of Adam descends D(c^ || c) over x and projects on [0, 1]^d. All predictions are updated at once: Adam is
coordinatewise, so that one step on the batch is one step on each. The original starts at 0; 1/2 and uniform
starts are compared in section VIII-E.

Jiang, Zhou, Grossklags, "Comprehensive Analysis of Privacy Leakage in Vertical Federated Learning During
Prediction"; Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", VIII-E.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.vertical.attack import Attack


@dataclass(frozen=True)
class GradientInversion(Attack):
    """Projected Adam on D(c^ || c) with the usual moments 0.9 and 0.999."""

    sees: ClassVar[set[str]] = {"scores", "active_features", "active_weights", "passive_weights", "bias"}

    limits: ClassVar[Limits] = {"steps": (1, None), "rate": (0, None)}

    start: Literal["zero", "half", "uniform"] = "zero"
    steps: int = 1000
    rate: float = 0.01

    def infer(self, view: View) -> np.ndarray:
        """Estimates (N x d) of the passive features."""
        known = np.ascontiguousarray((view.active_features @ view.active_weights.T + view.bias).T)
        target = np.log(np.maximum(view.scores.T, np.finfo(float).tiny, order="C"))
        x = np.ascontiguousarray(self._start(view).T)  # d x N: sums over classes run along memory
        first, second, room = np.zeros_like(x), np.zeros_like(x), np.empty_like(x)
        for step in range(1, self.steps + 1):
            g = gradient(x, view.passive_weights, known, target)
            first += np.multiply(np.subtract(g, first, out=room), 0.1, out=room)
            second += np.multiply(np.subtract(np.square(g, out=g), second, out=g), 0.001, out=g)
            fade = np.sqrt(1 - 0.999**step)
            np.add(np.sqrt(second, out=room), 1e-8 * fade, out=room)
            np.divide(first, room, out=room)
            x -= np.multiply(room, self.rate * fade / (1 - 0.9**step), out=room)
            np.clip(x, 0, 1, out=x)
        return x.T

    def _start(self, view: View) -> np.ndarray:
        shape = (len(view.scores), view.passive_weights.shape[1])
        if self.start == "uniform":
            return view.rng.random(shape)
        return np.full(shape, {"zero": 0.0, "half": 0.5}[self.start])


def gradient(x: np.ndarray, weights: np.ndarray, known: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Gradient (d x N) of D(c^ || c) at x (d x N): weights k x d, known logits and log c k x N."""
    logits = weights @ x
    logits += known
    logits -= logits.max(axis=0)
    scores = np.exp(logits)
    total = scores.sum(axis=0)
    scores /= total
    surprise = np.subtract(logits, target, out=logits)
    surprise -= np.log(total)
    surprise -= np.sum(scores * surprise, axis=0)
    scores *= surprise
    return weights.T @ scores
