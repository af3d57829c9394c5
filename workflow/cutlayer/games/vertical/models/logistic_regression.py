"""logistic_regression: multinomial logistic regression, trained by Adam with early stopping on held-out rows.

Two classes are a softmax over two scores, so that one formula serves any number of classes.
The penalty is l2 (tr W W' + ||b||^2), equation 76 of the chebyshev paper.

`optimizer: newton` converges to the unique minimizer that this equation has on all training rows if there is a penalty
(proposition 4), where Adam stops early. `penalize_bias: false` leaves ||b||^2 out.

Several models of the same rows, each on its own rescaling of the features, are trained as one stack:
Adam is coordinatewise, so each stacked model is trained exactly as it would be alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from cutlayer.core.descent import descend
from cutlayer.core.devices import randn
from cutlayer.core.errors import InputError
from cutlayer.core.limits import Limits
from cutlayer.games.vertical.model import Model

from ._optimum import Problem, optimum


@dataclass(frozen=True)
class LogisticRegression(Model):
    """Multinomial logistic regression with weights (k x d) and bias (k,)."""

    limits: ClassVar[Limits] = {
        "l2": (0, None), "rate": (0, None), "batch": (1, None), "epochs": (1, None), "patience": (1, None),
        "held_out": (0, 0.5),
    }  # fmt: skip

    optimizer: Literal["adam", "newton"] = "adam"
    l2: float = 0.0
    penalize_bias: bool = True
    rate: float = 0.01
    batch: int = 256
    epochs: int = 300
    patience: int = 10  # epochs without a better loss on the held-out rows
    held_out: float = 0.1  # share of the training rows for early stopping

    def __post_init__(self) -> None:
        if self.optimizer == "newton" and not self.l2:
            raise InputError("model.logistic_regression", "newton without a penalty", "l2 > 0: one minimizer")

    def fit(
        self,
        X: np.ndarray,
        y: np.ndarray,
        classes: int,
        scale: np.ndarray,
        shift: np.ndarray,
        seed: int,
        name: str,
        device: str = "cpu",
    ) -> tuple[np.ndarray, np.ndarray]:
        """Train V logistic regressions, model v on scale[v] * X + shift[v].

        X is n x d, scale and shift are V x d, labels y (n,) in 0..classes-1.

        Returns float64 weights (V, k, d) and biases (V, k), each of the epoch with its least held-out loss.
        A loss that is not a number is an InputError; `name` is for its message.
        """
        if self.optimizer == "newton":
            penalties = np.repeat([self.l2, self.l2 * self.penalize_bias], [X.shape[1], 1])
            return optimum(Problem(X, np.eye(classes)[y], penalties), scale, shift, name)
        generator = torch.Generator().manual_seed(seed)
        held, rows = torch.randperm(len(X), generator=generator).tensor_split([max(1, round(self.held_out * len(X)))])
        stack = _Stack(X, y, classes, scale, shift, self.l2, generator, device, self.penalize_bias)
        held = held.to(device)
        optimizer = torch.optim.Adam(stack.parameters, self.rate)
        for epoch in range(self.epochs):
            order = rows[torch.randperm(len(rows), generator=generator)].to(device)  # one copy an epoch
            for chunk in order.split(self.batch):
                descend(optimizer, stack.losses(chunk).sum())
            with torch.no_grad():
                losses = stack.losses(held)
            if not torch.isfinite(losses).all():
                where = f"loss is not finite in epoch {epoch + 1}, model {int((~losses.isfinite()).nonzero()[0, 0])}"
                raise InputError(f"run.{name}", where, "check the data, or lower the model's rate")
            if not stack.keep(losses, epoch, self.patience):
                break
        return stack.best[0].cpu().numpy(), stack.best[1].cpu().numpy()


class _Stack:
    """V models as tensors: their parameters, their losses, and the best of each so far."""

    def __init__(self, X, y, classes, scale, shift, l2, generator, device, penalize_bias=True) -> None:  # type: ignore[no-untyped-def]  # torch is imported late
        self.X, self.y, self.scale, self.shift = (torch.tensor(array).to(device) for array in (X, y, scale, shift))
        self.l2, self.penalize_bias = l2, penalize_bias
        copies = len(scale)
        weights = 0.01 * randn((classes, X.shape[1]), generator, device, torch.float64)
        self.weights = weights.repeat(copies, 1, 1).requires_grad_()
        self.bias = torch.zeros(copies, classes, dtype=torch.float64, device=device, requires_grad=True)
        self.parameters = [self.weights, self.bias]
        self.best = [p.detach().clone() for p in self.parameters]
        self.best_loss = torch.full((copies,), np.inf, dtype=torch.float64, device=device)
        self.best_epoch = torch.zeros(copies, dtype=torch.int64, device=device)

    def losses(self, rows):  # type: ignore[no-untyped-def]
        """Penalized cross-entropy (V,) of each model on the given rows."""
        turned = (self.weights * self.scale[:, None]).flatten(0, 1)
        offset = self.bias + (self.weights * self.shift[:, None]).sum(2)
        logits = (self.X[rows] @ turned.T).unflatten(1, self.bias.shape) + offset
        entropy = cross_entropy(logits.permute(0, 2, 1), self.y[rows, None].expand(-1, len(offset)), reduction="none")
        squares = self.weights.square().sum((1, 2)) + self.penalize_bias * self.bias.square().sum(1)
        return entropy.mean(0) + self.l2 * squares

    def keep(self, losses, epoch: int, patience: int) -> bool:  # type: ignore[no-untyped-def]
        """Keep the models that improved; False if none has for `patience` epochs."""
        active = (self.best_epoch >= epoch - patience) | (epoch == 0)
        better = active & (losses < self.best_loss)
        self.best_loss[better], self.best_epoch[better] = losses[better], epoch
        for kept, parameter in zip(self.best, self.parameters, strict=True):
            kept[better] = parameter.detach()[better]
        return bool((self.best_epoch > epoch - patience).any())
