"""mid: a variational bottleneck at the entrance of the top model limits what the top takes from the embeddings.

Of an embedding h the label party computes means mu and deviations sigma, draws u = mu + sigma xi, xi ~ N(0, I) anew at
each use, and decodes u for its own top model. The loss gets `weight` times the divergence of N(mu, sigma^2) from
N(0, I), mean over the batch: an upper bound on the mutual information of h and u.

As in the code of VFLAIR: (mu, s) = ReLU(linear(h)), sigma = softplus(s - 0.5), a decoder of two layers, and noise at
the test as well. As s is not negative, sigma is at least 0.474.

A row's gradient is J(xi)^T (p - t): J is drawn anew each time, the sign of p - t stays. The adaptive adversaries
combine a row's gradients of all epochs (`repeated`), or read one batch in many directions (`off_axis`).

Zou, Liu, Zhang, "Mutual Information Regularization for Vertical Federated Learning", of which only the abstract and
code were read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from cutlayer.core.limits import Limits
from cutlayer.games.split.defense import Context, Defense, Training

INNER = 5  # by how much the decoder's hidden layer is wider than the cut


@dataclass(frozen=True)
class MID(Defense):
    """Variational information bottleneck of the top model."""

    limits: ClassVar[Limits] = {"weight": (0, None)}

    weight: float = 0.01  # lambda

    def top(self, module: nn.Module, width: int, training: Training) -> nn.Module:
        """The top model behind the bottleneck."""
        return Bottleneck(module, width, training)

    def penalty(self, sent: Tensor, logits: Tensor, context: Context) -> Tensor:
        """The weighted divergence of the batch's codes from standard normal ones."""
        return self.weight * context.top.divergence


class Bottleneck(nn.Module):
    """Encoder, noise and decoder in front of a top model; `divergence` is that of the last batch."""

    divergence: Tensor

    def __init__(self, module: nn.Module, width: int, training: Training) -> None:
        super().__init__()
        self.module, self._randn = module, training.randn
        self.encoder = nn.Linear(width, 2 * width)
        inner = INNER * width
        self.decoder = nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width), nn.ReLU())

    def forward(self, sent: Tensor, x: dict[str, Tensor]) -> Tensor:
        """Logits (B, outputs)."""
        mean, s = torch.relu(self.encoder(sent)).chunk(2, dim=1)
        deviation = softplus(s - 0.5)
        each = mean.square() + deviation.square() - 1 - 2 * deviation.log()
        self.divergence = each.sum(dim=1).mean() / 2
        return self.module(self.decoder(mean + deviation * self._randn(*mean.shape)), x)
