"""Base class of feature defenses in vertical federated learning: the published weights and the revealed scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from cutlayer.games.base import checks
from cutlayer.games.base import defense as base

from .equations import difference_matrix, softmax


@dataclass(frozen=True)
class Context:
    """The context of a hook: the passive party's weights and features, and the random generator."""

    weights: np.ndarray  # (k, d): the passive party's weights
    features: np.ndarray  # (n, d): the passive party's own features, in [0, 1]
    rng: np.random.Generator = field(repr=False)

    @property
    def coefficients(self) -> np.ndarray:
        """A = J W_pas (k-1 x d), the coefficients of the score equations that an adversary can solve."""
        return difference_matrix(len(self.weights)) @ self.weights


def _published(
    name: str, found: Any, defense: Defense, weights: np.ndarray, bias: np.ndarray, context: Context
) -> None:
    checks.several(name, "publish", found, ("weights", "bias"))
    for part, expected in zip(found, (weights, bias), strict=True):
        checks.like(name, "publish", part, expected)


def _revealed(name: str, found: Any, defense: Defense, logits: np.ndarray, context: Context) -> None:
    checks.like(name, "reveal", found, logits)
    if defense.distributions:
        checks.distributions(name, "reveal", found)


@dataclass(frozen=True)
class Defense(base.Defense):
    """A defense of the passive party's features; the hooks are called in this order."""

    games: ClassVar[set[str]] = {"vertical"}
    distributions: ClassVar[bool] = True  # whether revealed rows are probabilities; else they may even be negative

    @property
    def rescaling(self) -> tuple[float, float]:
        """The rescaling (a, c) if the passive party trains on a x + c in place of its features x; (1, 0): none."""
        return 1.0, 0.0

    @property
    def training(self) -> Mapping[str, Any]:
        """Parameters of the model that this defense changes, also in the undefended model that it is compared with."""
        return {}

    @property
    def auc_bound(self) -> float | None:
        """Upper bound on the AUC of any test between two rows' features by all scores revealed of a row, or None."""
        return None

    @base.returns(_published)
    def publish(self, weights: np.ndarray, bias: np.ndarray, context: Context) -> tuple[np.ndarray, np.ndarray]:
        """The passive party's weights (k x d) and the bias (k,) that are published to the active party."""
        return weights, bias

    @base.returns(_revealed)
    def reveal(self, logits: np.ndarray, context: Context) -> np.ndarray:
        """The scores (N x k) revealed for these logits (N x k); rows sum to 1 unless `distributions` is False."""
        return softmax(logits)
