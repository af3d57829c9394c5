"""gia: gradient inversion, Adam on the divergence between the scores of a guess and the scores seen.

Every step descends D(c^ || c) over x and projects on [0, 1]^d. All predictions move at once: Adam is
coordinatewise, so that one step on the batch is one step on each. The original starts at 0; 1/2 and uniform
starts are compared in section VIII-E.

Jiang, Zhou, Grossklags, "Comprehensive Analysis of Privacy Leakage in Vertical Federated Learning During
Prediction"; Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", VIII-E.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from ..equations import softmax
from ..transcript import View
from .base import Attack


@dataclass(frozen=True)
class GradientInversion(Attack):
    """Projected Adam on D(c^ || c) with the usual moments 0.9 and 0.999."""

    sees: ClassVar[set[str]] = {"scores", "active_features", "active_weights", "passive_weights", "bias"}

    start: Literal["zero", "half", "uniform"] = "zero"
    steps: int = 1000
    rate: float = 0.01

    def infer(self, view: View) -> np.ndarray:
        """N x d guesses."""
        known = view.active_features @ view.active_weights.T + view.bias
        target = np.log(np.maximum(view.scores, np.finfo(float).tiny))
        x = self._start(view)
        first, second = np.zeros_like(x), np.zeros_like(x)
        for step in range(1, self.steps + 1):
            g = gradient(x, view.passive_weights, known, target)
            first += 0.1 * (g - first)
            second += 0.001 * (g * g - second)
            scale = np.sqrt(second / (1 - 0.999**step)) + 1e-8
            x -= self.rate / (1 - 0.9**step) * first / scale
            np.clip(x, 0, 1, out=x)
        return x

    def _start(self, view: View) -> np.ndarray:
        shape = (len(view.scores), view.passive_weights.shape[1])
        if self.start == "uniform":
            return view.rng.random(shape)
        return np.full(shape, {"zero": 0.0, "half": 0.5}[self.start])


def gradient(x: np.ndarray, weights: np.ndarray, known: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Gradient (N x d) of D(c^ || c) at x (N x d): weights k x d, known logits and log c N x k."""
    scores = softmax(known + x @ weights.T)
    surprise = np.log(np.maximum(scores, np.finfo(float).tiny)) - target
    divergence = np.sum(scores * surprise, axis=1, keepdims=True)
    return (scores * (surprise - divergence)) @ weights
