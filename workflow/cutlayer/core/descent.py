"""Optimizer steps without the overhead of torch's profiler and hooks, which is large for small networks.

Measured in `workflow/benchmarks/optimizer_steps.md`.
"""

from __future__ import annotations

from torch import Tensor
from torch.optim import Optimizer


def forget(optimizer: Optimizer) -> None:
    """Clear the gradients of the optimizer's parameters: `optimizer.zero_grad()`."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = None


def step(optimizer: Optimizer) -> None:
    """One step along the present gradients: `optimizer.step()`."""
    type(optimizer).step.__wrapped__(optimizer)  # type: ignore[attr-defined]


def descend(optimizer: Optimizer, loss: Tensor) -> None:
    """One step of gradient descent on a scalar loss."""
    forget(optimizer)
    loss.backward()
    step(optimizer)
