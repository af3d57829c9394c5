"""pps: publishes the passive party's weights in rotated coordinates and leaves the scores unchanged.

The passive party's features are rotated by an orthonormal H, its weights by H^-1, so that the scores stay
equal while an adversary who takes the published weights for the true ones reconstructs H x.
`minus_identity` is H = -I, renormalized to [0, 1]: x -> 1 - x with the bias shifted by W 1.
`optimal` is the H of theorem 3, which maximizes the error of the least squares attack.

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", VII-A.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from cutlayer.core.errors import InputError
from cutlayer.core.limits import Limits
from cutlayer.games.vertical.defense import Context, Defense
from cutlayer.theory.chebyshev import theorem3


@dataclass(frozen=True)
class PrivacyPreservingScheme(Defense):
    """Privacy-preserving scheme: publishes W_pas H^-1 (remark 6), or retrains on transformed features (prop. 4)."""

    limits: ClassVar[Limits] = {"penalty": (1e-300, None)}

    transform: Literal["minus_identity", "optimal"] = "minus_identity"
    # Only minus_identity, for the optimal H needs the trained weights. "optimum": before and after, the model is the
    # minimizer of equation 76 with `penalty`, whatever the setup's; without one there is none.
    retrain: Literal[False, True, "optimum"] = False
    penalty: float = 0.001  # lambda of equation 76, to which the paper gives no value

    def __post_init__(self) -> None:
        if self.retrain and self.transform != "minus_identity":
            raise InputError("defense.pps", f"retrain = {self.retrain}", "only with transform = 'minus_identity'")

    @property
    def rescaling(self) -> tuple[float, float]:
        """The map x -> 1 - x (multiplication by -1 and renormalization) if retrained; figure 12 measures it."""
        return (-1.0, 1.0) if self.retrain else (1.0, 0.0)

    @property
    def training(self) -> Mapping[str, Any]:
        """Newton's method to the unique optimum of proposition 4, where Adam stops early."""
        return {"optimizer": "newton", "l2": self.penalty} if self.retrain == "optimum" else {}

    def publish(self, weights: np.ndarray, bias: np.ndarray, context: Context) -> tuple[np.ndarray, np.ndarray]:
        """Weights and bias that give the same scores on the transformed features."""
        if self.retrain:
            return weights, bias
        if self.transform == "minus_identity":
            return -weights, bias + weights.sum(axis=1)
        correlation = context.features.T @ context.features / len(context.features)
        return weights @ theorem3(context.coefficients, correlation)["transform"].T, bias
