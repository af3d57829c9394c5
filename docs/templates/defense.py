"""even_noise: the same noise on every gradient of a batch, in proportion to the longest of them.

Say here how it works, and name the paper if there is one. The first word is the name of the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from cutlayer.core.limits import Limits
from cutlayer.games.split.defense import Context, Defense


@dataclass(frozen=True)
class EvenNoise(Defense):
    """Its fields are its parameters: each has a type and a default."""

    limits: ClassVar[Limits] = {"strength": (0, None)}  # least and greatest value

    strength: float = 1.0  # the noise's length, on average, over that of the longest gradient

    def backward(self, gradient: torch.Tensor, context: Context) -> torch.Tensor:
        """The released gradients (B, d), for those of a batch (B, d); draws with the context's generator only."""
        spread = self.strength * gradient.norm(dim=1).max() / gradient.shape[1] ** 0.5
        return gradient + spread * context.training.randn(*gradient.shape)
