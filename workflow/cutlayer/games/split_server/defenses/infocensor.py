"""infocensor: penalizes a bound on the mutual information between noisy features and the attribute.

The clients minimize L_u + lambda times the bound. The noisy features of a class a are a mixture of Gaussians
N(f(x_i), sigma^2 I). The mutual information is at most sum_a sum_{b != a} p_a p_b KL(a || b); each divergence is
replaced by the variational approximation

    KL(a || b) ~ mean_{i in a} (log mean_{j in a} e^(-D_ij) - log mean_{j in b} e^(-D_ij)),

D_ij = ||f(x_i) - f(x_j)||^2 / (2 sigma^2), which is near but not above the divergence at all times. The method's two
other terms, on the compression of the input and on fairness, are left out (beta = kappa = 0).

Zheng and Li, "InfoCensor: An Information-Theoretic Framework against Sensitive Attribute Inference and Demographic
Disparity"; Hershey and Olsen, "Approximating the Kullback Leibler divergence between Gaussian mixture models", 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch

from cutlayer.core.limits import Limits
from cutlayer.games.split_server.defense import Context, Defense
from cutlayer.information import vclub


@dataclass(frozen=True)
class Infocensor(Defense):
    """Penalty on the divergences between the classes' mixtures of Gaussians."""

    limits: ClassVar[Limits] = {"weight": (0, None)}

    weight: float = 0.1  # lambda

    def penalty(self, features: torch.Tensor, context: Context) -> torch.Tensor:
        """Lambda times the approximate mutual information of the batch."""
        return self.weight * mixture_leakage(features, context.attribute, context.clients.sigma)


def mixture_leakage(features: torch.Tensor, attribute: torch.Tensor, sigma: float) -> torch.Tensor:
    """Approximation of sum_a sum_{b != a} N_a N_b / N^2 KL(a || b), of features (N, ...) and their attribute (N,).

    Class by class the kernels' means are a log-likelihood of the attribute, and the sum is the difference between that
    of the true value and that of a random one: vCLUB.
    """
    rows = features.flatten(1)
    squares = rows.square().sum(dim=1)
    distances = (squares[:, None] + squares - 2 * rows @ rows.T).clamp_min(0) / (2 * sigma**2)
    values, place = attribute.unique(return_inverse=True)
    near = [-distances[:, place == value] for value in range(len(values))]
    return vclub(torch.stack([some.logsumexp(dim=1) - math.log(some.shape[1]) for some in near], dim=1), place)
