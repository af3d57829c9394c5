"""even_noise: Gaussian noise of one variance on all gradients of a batch, in proportion to the largest norm.

Explain here how it works, and cite the paper if there is one. The first word is the name of the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from cutlayer.core.limits import Limits
from cutlayer.games.split.defense import Context, Defense


@dataclass(frozen=True)
class EvenNoise(Defense):
    """Isotropic noise; fields are parameters with a type and a default."""

    limits: ClassVar[Limits] = {"strength": (0, None)}  # least and greatest value

    strength: float = 1.0  # expected norm of the noise over the largest norm of a gradient

    def backward(self, gradient: torch.Tensor, context: Context) -> torch.Tensor:
        """Gradients (B, d) to return in place of those of a batch (B, d). Draw with the context's generator only."""
        spread = self.strength * gradient.norm(dim=1).max() / gradient.shape[1] ** 0.5
        return gradient + spread * context.training.randn(*gradient.shape)
