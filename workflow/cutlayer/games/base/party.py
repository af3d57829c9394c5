"""The context of a party that runs a defense: the source of its random tensors, and its device."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch


@dataclass(frozen=True, kw_only=True)
class PartyContext:
    """The random generator and the device of the party that runs a defense."""

    generator: torch.Generator = field(repr=False)  # on the CPU, see `devices`
    device: str = "cpu"

    def randn(self, *shape: int) -> torch.Tensor:
        """Standard normal float32 numbers, the same on every device."""
        return torch.randn(shape, generator=self.generator).to(self.device)

    def rand(self, *shape: int) -> torch.Tensor:
        """Uniform float32 numbers in [0, 1), the same on every device."""
        return torch.rand(shape, generator=self.generator).to(self.device)
