"""Plain gradient descent, with the interface of `adam`."""

from __future__ import annotations

from collections.abc import Iterable

import torch


class Descent:
    """Each step is the gradient times a rate."""

    def __init__(self, parameters: Iterable[torch.Tensor], rate: float) -> None:
        self.parameters, self.rate = list(parameters), rate

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Move every parameter that has a gradient."""
        for parameter in self.parameters:
            if parameter.grad is not None:
                parameter.add_(parameter.grad, alpha=-self.rate)
