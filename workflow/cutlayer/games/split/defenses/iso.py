"""iso: adds isotropic Gaussian noise whose power is a multiple of the largest squared gradient norm of the batch.

Each gradient g_i gets N(0, (s / d) max_j ||g_j||^2 I). `ratio` is the paper's s: of the noise's expected squared norm
to the longest gradient's. (The official code is given a ratio of lengths instead; the s printed is its square.)

Li et al., "Label Leakage and Protection in Two-party Split Learning", 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from cutlayer.core.limits import Limits
from cutlayer.games.split.defense import Context, Defense


@dataclass(frozen=True)
class Iso(Defense):
    """Isotropic Gaussian noise, the same distribution for every example of a batch."""

    limits: ClassVar[Limits] = {"ratio": (0, None)}

    ratio: float = 1.0  # s: squared norms, noise to longest gradient

    def backward(self, gradient: torch.Tensor, context: Context) -> torch.Tensor:
        """Gradients (B, d) with noise; without, if all of them are 0."""
        longest = gradient.square().sum(dim=1).max()
        deviation = (self.ratio / gradient.shape[1] * longest).sqrt()
        return gradient + deviation * context.training.randn(*gradient.shape)
