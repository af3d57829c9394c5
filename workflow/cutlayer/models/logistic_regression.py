"""logistic_regression: multinomial logistic regression, Adam, early stopping on held-out rows.

Two classes are written as a softmax over two scores, so that one formula serves any number of classes.
The penalty is l2 (tr W W' + ||b||^2), equation 76 of the chebyshev paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from .base import Model


@dataclass(frozen=True)
class LogisticRegression(Model):
    """Weights (k x d) and bias (k,) that minimize the cross-entropy."""

    l2: float = 0.0
    rate: float = 0.01
    batch: int = 256
    epochs: int = 300
    patience: int = 10  # epochs without a better loss on the held-out rows
    held_out: float = 0.1  # share of the training rows for early stopping

    def fit(
        self, X: np.ndarray, y: np.ndarray, classes: int, seed: int, name: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """Train on X (n x d) in [0, 1] and y (n,) in 0..classes-1; `name` is for error messages.

        Returns float64 weights and bias of the epoch with the least held-out loss. A loss that is not a
        number is an InputError saying where.
        """
        import torch

        generator = torch.Generator().manual_seed(seed)
        order = torch.randperm(len(X), generator=generator)
        held, rows = order.tensor_split([max(1, round(self.held_out * len(X)))])
        inputs, targets = torch.tensor(X, dtype=torch.float64), torch.tensor(y)
        weights = 0.01 * torch.randn(classes, X.shape[1], generator=generator, dtype=torch.float64)
        parameters = [weights.requires_grad_(), torch.zeros(classes, dtype=torch.float64, requires_grad=True)]
        optimizer = torch.optim.Adam(parameters, lr=self.rate)
        best, best_epoch, kept = np.inf, 0, [p.detach().clone() for p in parameters]
        for epoch in range(self.epochs):
            for chunk in rows[torch.randperm(len(rows), generator=generator)].split(self.batch):
                loss = self._loss(parameters, inputs[chunk], targets[chunk])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            with torch.no_grad():
                score = float(self._loss(parameters, inputs[held], targets[held]))
            if not np.isfinite(score):
                raise InputError(f"run.{name}", f"loss is {score} in epoch {epoch + 1}", "lower rate or check the data")
            if score < best:
                best, best_epoch, kept = score, epoch, [p.detach().clone() for p in parameters]
            elif epoch - best_epoch >= self.patience:
                break
        return kept[0].numpy(), kept[1].numpy()

    def _loss(self, parameters, X, y):  # type: ignore[no-untyped-def]  # torch is imported late
        from torch.nn.functional import cross_entropy

        weights, bias = parameters
        penalty = self.l2 * (weights.square().sum() + bias.square().sum())
        return cross_entropy(X @ weights.T + bias, y) + penalty
