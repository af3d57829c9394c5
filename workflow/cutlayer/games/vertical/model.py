"""Base class of models in vertical federated learning: linear, so that each party holds the weights of its features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.games.base import model as base


@dataclass(frozen=True)
class Model(base.Model):
    """A linear model with scores softmax(W x + b)."""

    games: ClassVar[set[str]] = {"vertical"}

    def fit(
        self, X: np.ndarray, y: np.ndarray, classes: int, scale: np.ndarray, shift: np.ndarray, seed: int, name: str,
        device: str = "cpu",
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """Train V models; return float64 weights (V, k, d) and biases (V, k).

        Model v is trained on scale[v] * X + shift[v] (X is n x d, scale and shift V x d), labels y (n,) in
        0..classes-1. A loss that is not a number is an InputError; `name` is for its message.
        """
        raise base.missing(self, "fit")
