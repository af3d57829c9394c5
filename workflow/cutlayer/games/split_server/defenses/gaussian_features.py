"""gaussian_features: clips each row's features and adds Gaussian noise, calibrated over all releases of the row.

The baseline with a guarantee, which needs no attribute and relies on no estimate of the leakage. Features whose norm
exceeds `clip` are scaled to it, and each coordinate gets noise N(0, sigma^2) whenever it leaves the clients, during the
training and later, in place of the setup's. Any two rows' features are then at most 2 clip apart; a row has one release
per epoch in training, `queries` later, and sigma is the least for which so many Gaussian mechanisms of sensitivity 2
clip, composed, are (epsilon, delta)-differentially private for the row, against an adversary who knows the encoders.

The consequence for an attribute: a score of all releases distinguishes any two rows with an AUC of at most
Phi(mu / sqrt 2), mu = 2 clip sqrt(releases) / sigma. The AUC of an attribute is the mean of that over pairs of a row
with one value and a row with the other, and so no larger, whatever the features and whatever the adversary knows of
the attribute's distribution (`auc_bound`). Composition is adaptive: encoders may depend on earlier releases.

It does not cover a row's effect on the encoder by its part in the training, which later releases of other rows
reveal: the clients' own gradients have no noise. Nor is the noise of floating-point numbers exactly Gaussian.

Dwork, Roth, "The Algorithmic Foundations of Differential Privacy", A; Dong, Roth, Su, "Gaussian Differential Privacy",
corollary 3.3; the noise is found by Google's dp-accounting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from cutlayer.core.limits import Limits
from cutlayer.games.split_server.defense import ClientsContext, Defense
from cutlayer.theory.accounting import gaussian_auc, gaussian_deviation


@dataclass(frozen=True)
class GaussianFeatures(Defense):
    """Gaussian mechanism on clipped features, with row-level (epsilon, delta)-differential privacy."""

    about: ClassVar[str] = "row"
    limits: ClassVar[Limits] = {"epsilon": (1e-2, 1000), "delta": (1e-15, 0.01), "clip": (1e-6, None)}

    epsilon: float = 30.0
    delta: float = 1e-5
    clip: float = 4.0  # greatest norm of a row's features

    def release(self, features: torch.Tensor) -> torch.Tensor:
        """Features (B, ...) clipped to a norm of at most `clip`."""
        length = features.flatten(1).norm(dim=1).clamp_min(self.clip)
        return features * (self.clip / length).reshape(-1, *(features.ndim - 1) * [1])

    def deviation(self, clients: ClientsContext) -> float:
        """Standard deviation of the noise for (epsilon, delta) under composition of all releases."""
        return gaussian_deviation(self.epsilon, self.delta, clients.num_releases, 2 * self.clip)

    def auc_bound(self, clients: ClientsContext) -> float:
        """Bound over all releases of a row, for any of its attributes."""
        return gaussian_auc(self.epsilon, self.delta, clients.num_releases)
