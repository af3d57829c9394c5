"""Adam without torch's optimizer class, whose first use imports torch's compiler: more than a second of every job.

The arithmetic is torch's own (`torch.optim.adam.adam`).

Kingma and Ba, "Adam: A Method for Stochastic Optimization".
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch.optim.adam import adam


class Adam:
    """Moments of some parameters, and the step that uses them."""

    def __init__(self, parameters: Iterable[torch.Tensor], rate: float, fused: bool = False) -> None:
        self.parameters, self.rate, self.fused = list(parameters), rate, fused
        self._first = [torch.zeros_like(p) for p in self.parameters]
        self._second = [torch.zeros_like(p) for p in self.parameters]
        self._steps = [torch.zeros((), dtype=torch.float32, device=p.device) for p in self.parameters]

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Move every parameter that has a gradient."""
        moved = [i for i, parameter in enumerate(self.parameters) if parameter.grad is not None]
        adam(
            [self.parameters[i] for i in moved],
            [self.parameters[i].grad for i in moved],  # type: ignore[misc]  # None was left out
            [self._first[i] for i in moved],
            [self._second[i] for i in moved],
            [],
            [self._steps[i] for i in moved],
            foreach=False,
            fused=self.fused,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=self.rate,
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
        )
