"""Surrogate top models: what an adversary puts in the place of the label party's model."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from cutlayer.core.descent import descend

ENTROPY = 0.1  # weight of the labels' cross-entropy under the surrogate, beside 1 of the prior


class Surrogates(nn.Module):
    """`count` models with one hidden layer each, from embeddings (W, d), scaled as a whole, to `classes` logits."""

    def __init__(self, embeddings: Tensor, classes: int, hidden: int, count: int, rng: np.random.Generator) -> None:
        super().__init__()
        centered = embeddings - embeddings.mean(dim=0)
        self.scale = centered.square().mean().sqrt().clamp_min(1e-12)
        self.inputs = centered / self.scale

        def drawn(*shape: int) -> nn.Parameter:
            bound = shape[0] ** -0.5
            return nn.Parameter(torch.from_numpy(rng.uniform(-bound, bound, (count, *shape))).to(embeddings))

        self.first, self.second = drawn(embeddings.shape[1], hidden), drawn(hidden, classes)
        self.offsets = nn.ParameterList([drawn(hidden, 1), drawn(classes, 1)])

    def forward(self, rows: np.ndarray, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Gradients (count, n, d) of the cross-entropies of soft labels (count, n, k) by the embeddings of some rows.

        Beside them the log-probabilities (count, n, k).
        """
        hidden, log_p = self.predicted(rows)
        back = (log_p.exp() - labels) @ self.second.transpose(1, 2) * (hidden > 0)
        return back @ self.first.transpose(1, 2) / self.scale, log_p

    def predicted(self, rows: np.ndarray) -> tuple[Tensor, Tensor]:
        """Hidden units before their ReLU (count, n, hidden), and log-probabilities (count, n, k), of some rows."""
        bias, last = (offset.transpose(1, 2) for offset in self.offsets)
        hidden = self.inputs[rows] @ self.first + bias
        return hidden, (torch.relu(hidden) @ self.second + last).log_softmax(dim=2)


def replayed(
    tops: Surrogates, rows: np.ndarray, g: Tensor, prior: Tensor, known: np.ndarray, given: Tensor, match: float,
    steps: int, rng: np.random.Generator,
) -> tuple[Tensor, int]:  # fmt: skip
    """Fit surrogates and labels to the gradients g (n, d) of some rows, whose classes have these shares `prior` (k,).

    Places `known` (m,) among the rows have the labels `given` (m, k). `match` is the weight of the gradients. Returned
    are log-probabilities (n, k) of the labels, and the number of the surrogate of least loss.
    """
    own = nn.Parameter(torch.from_numpy(rng.normal(size=(*tops.first.shape[:1], len(g), len(prior)))).to(g))
    fixed, free = torch.zeros_like(own[0]), torch.ones_like(g[:, :1])
    fixed[known], free[known] = given, 0.0
    share = torch.where(free > 0, 1 / free.sum().clamp_min(1), 1 / len(known))[:, 0] / 2  # known ones are half of all
    parts = [{"params": [*tops.parameters()], "lr": 0.02}, {"params": [own], "lr": 0.05}]
    adam = torch.optim.Adam(parts, fused=True)
    entropy, sizes = -(prior * prior.log()).sum(), g.square().sum(dim=1)
    unit = torch.where(free[:, 0] > 0, sizes[free[:, 0] > 0].mean(), sizes[known].mean())
    weight = torch.where(unit > 0, share / unit, 0)
    for _ in range(steps):
        labels = fixed + free * own.softmax(dim=2)
        errors: Tensor | float = 0.0
        if match:
            gradients, log_p = tops(rows, labels)
            errors = match * ((gradients - g).square().sum(dim=2) * weight).sum(dim=1)
        else:  # gradients are half of the time
            _, log_p = tops.predicted(rows)
        crossed = (-(labels * log_p).sum(dim=2) * share).sum(dim=1) / entropy
        apart = (prior * (prior.log() - labels.mean(dim=1).log())).sum(dim=1)
        loss = errors + ENTROPY * crossed + apart
        descend(adam, loss.sum())
    best = int(loss.argmin())
    return own[best].log_softmax(dim=1), best
