"""The contract of a model of the vertical game: linear, so that each party holds the weights of its own features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.games.base import model as base


@dataclass(frozen=True)
class Model(base.Model):
    """Scores softmax(W x + b)."""

    games: ClassVar[set[str]] = {"vertical"}

    def fit(
        self, X: np.ndarray, y: np.ndarray, classes: int, scale: np.ndarray, shift: np.ndarray, seed: int, name: str,
        device: str = "cpu",
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """Float64 weights (V, k, d) and biases (V, k) of V models.

        Model v is trained on scale[v] * X + shift[v] (X is n x d, scale and shift V x d), labels y (n,) in
        0..classes-1. A loss that is not a number is an InputError saying where; `name` is for that message.
        """
        raise base.missing(self, "fit")
