"""mixpro: mixes each gradient with another of its batch, then rotates it towards the batch's mean gradient.

Mixup: l g_i + (1 - l) g_j with l ~ Beta(alpha, alpha) and j uniform over the batch (i included), both drawn for each
i. Projection: where the cosine of the mixture with the mean of the batch's gradients is below phi, the mixture is
rotated in the plane of the two, at constant norm, until the cosine is phi; this is the smallest such rotation. A
mixture opposite to the mean spans no plane with it and is rotated onto the mean. A mixture of 0 stays 0, and if the
mean is 0 nothing is rotated.

The paper has no public code. alpha and phi are this project's choice, not tuned: every share equally likely, and a
goal of 60 degrees.

Wei et al., "FedAds: A Benchmark for Privacy-Preserving CVR Estimation with Vertical Federated Learning".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from cutlayer.core.limits import Limits
from cutlayer.games.split.defense import Context, Defense, Training


@dataclass(frozen=True)
class MixPro(Defense):
    """Gradient mixup, then gradient projection."""

    limits: ClassVar[Limits] = {"alpha": (1e-3, None), "phi": (-1, 1)}

    alpha: float = 1.0  # of the Beta distribution of the shares
    phi: float = 0.5  # the least cosine with the mean

    def backward(self, gradient: torch.Tensor, context: Context) -> torch.Tensor:
        """Gradients (B, d) after mixup and rotation."""
        share, partner = self._draw(len(gradient), context.training)
        mixed = torch.lerp(gradient[partner], gradient, share[:, None])
        return _turned(mixed.double(), gradient.double().mean(dim=0), self.phi).float()

    def _draw(self, rows: int, training: Training) -> tuple[torch.Tensor, torch.Tensor]:
        """Mixing weights (B,) and partners (B,); numpy draws the weights, as torch's Beta takes no generator."""
        seed = int(torch.randint(2**62, (), generator=training.generator))
        share = np.random.default_rng(seed).beta(self.alpha, self.alpha, rows).astype(np.float32)
        partner = torch.randint(rows, (rows,), generator=training.generator)
        return torch.from_numpy(share).to(training.device), partner.to(training.device)


def _turned(rows: torch.Tensor, mean: torch.Tensor, phi: float) -> torch.Tensor:
    """Rows (B, d) rotated until their cosine with the mean is at least phi."""
    if not mean.any():
        return rows
    mean = mean / mean.norm()
    along = rows @ mean
    across = rows - along[:, None] * mean
    length, height = rows.norm(dim=1), across.norm(dim=1)
    sideways = torch.where(height > 0, math.sqrt(1 - phi * phi) * length / height, 0.0)
    forward = torch.where(height > 0, phi * length, length)
    turned = forward[:, None] * mean + sideways[:, None] * across
    return torch.where((along < phi * length)[:, None], turned, rows)
