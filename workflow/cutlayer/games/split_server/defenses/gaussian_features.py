"""gaussian_features: clip each row's features and add Gaussian noise, calibrated over all sendings.

The baseline with a guarantee, which needs no attribute and trusts no estimate of what leaks. Features longer than
`clip` are scaled to it, and each coordinate gets noise N(0, sigma^2) whenever it leaves the clients, in training and
later, in place of the setup's. Any two rows' features are then at most 2 clip apart; a row is sent once an epoch while
it trains, `queries` times later, and sigma is the least for which so many Gaussian mechanisms of sensitivity 2 clip,
composed, are (epsilon, delta)-differentially private for the row, to anyone who knows the encoders.

What that says of an attribute: a score of all sendings tells any row from any other with an AUC of at most
Phi(mu / sqrt 2), mu = 2 clip sqrt(sendings) / sigma. The AUC of an attribute is the mean of that over pairs of a row
with one value and a row with the other, and so no larger, whatever features say and whatever the adversary knows of
how attributes are distributed (`promise`). Composition is adaptive: encoders may depend on what was sent before.

It does not cover what a row changes in the encoder by taking part in its training, which later sendings of other rows
show: the clients' own gradients have no noise. Nor is the noise of floating-point numbers exactly Gaussian.

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
    """Noise for a stated privacy of each row."""

    about: ClassVar[str] = "row"
    limits: ClassVar[Limits] = {"epsilon": (1e-2, 1000), "delta": (1e-15, 0.01), "clip": (1e-6, None)}

    epsilon: float = 30.0
    delta: float = 1e-5
    clip: float = 4.0  # greatest norm of a row's features

    def release(self, features: torch.Tensor) -> torch.Tensor:
        """Features (B, ...) of at most that norm."""
        length = features.flatten(1).norm(dim=1).clamp_min(self.clip)
        return features * (self.clip / length).reshape(-1, *(features.ndim - 1) * [1])

    def deviation(self, clients: ClientsContext) -> float:
        """That of the composed mechanisms."""
        return gaussian_deviation(self.epsilon, self.delta, clients.num_releases, 2 * self.clip)

    def auc_bound(self, clients: ClientsContext) -> float:
        """That of all sendings of a row, and of anything about it."""
        return gaussian_auc(self.epsilon, self.delta, clients.num_releases)
