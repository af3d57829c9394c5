"""Steps of torch's optimizers without what each would note for torch's profiler, and without hooks, as there are none.

What it costs small networks, as most here are: `workflow/benchmarks/optimizer_steps.md`.
"""

from __future__ import annotations

from torch import Tensor
from torch.optim import Optimizer


def forget(optimizer: Optimizer) -> None:
    """Its parameters have no gradient any more: `optimizer.zero_grad()`."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = None


def step(optimizer: Optimizer) -> None:
    """One step by the gradients that there are: `optimizer.step()`."""
    type(optimizer).step.__wrapped__(optimizer)  # type: ignore[attr-defined]


def descend(optimizer: Optimizer, loss: Tensor) -> None:
    """One step down the loss (a number)."""
    forget(optimizer)
    loss.backward()
    step(optimizer)
