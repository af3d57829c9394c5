"""The contract of a defense: what a protecting party does to what it sends.

A defense is one file with one frozen dataclass. Its fields are its parameters, its methods are hooks
that a protocol calls; each is a no-op unless the defense overrides it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ..equations import difference_matrix, softmax
from ..limits import Limits


@dataclass(frozen=True)
class Wire:
    """What the protecting party knows when a hook is called."""

    weights: np.ndarray  # (k, d): the passive party's weights
    features: np.ndarray  # (n, d): the passive party's own features, in [0, 1]
    rng: np.random.Generator = field(repr=False)

    @property
    def coefficients(self) -> np.ndarray:
        """A = J W_pas (k-1 x d), the left side of the equations an adversary can set up."""
        return difference_matrix(len(self.weights)) @ self.weights


@dataclass(frozen=True)
class Defense:
    """Base of all defenses."""

    protocols: ClassVar[set[str]] = {"vertical"}
    needs: ClassVar[set[str]] = set()  # keys a setup must have, e.g. {"sensitive"}
    limits: ClassVar[Limits] = {}

    @property
    def rescaling(self) -> tuple[float, float]:
        """(a, c) when the passive party trains on a x + c in place of its features x; (1, 0): it does not."""
        return 1.0, 0.0

    def publish(self, weights: np.ndarray, bias: np.ndarray, wire: Wire) -> tuple[np.ndarray, np.ndarray]:
        """The passive party's weights (k x d) and the bias (k,) that are shown to the active party."""
        return weights, bias

    def reveal(self, logits: np.ndarray, wire: Wire) -> np.ndarray:
        """The confidence scores (N x k, rows sum to 1) revealed for these logits (N x k)."""
        return softmax(logits)
