"""L_p of the clients' own rows over a training.

A batch is too small to know L_p: of A classes with equal moments, N rows show about (A - 1) (k + k (k + 1) / 2) / N
on k axes, 0.05 for two classes, four axes and 256 rows, where a threshold is 0.005. Its gradient is as noisy, and a
step that does not raise the L_p of a batch raises that of the others. The clients have all rows at hand, so L_p and
its gradient are those of all (or of `rows` drawn anew), and are taken again every `refresh` steps.

On a few axes L_p says nothing of the others, where the encoder then learns to leak: on Adult's sex four axes of 64 let
a retrained adversary do better than without any defense (workflow/benchmarks/tcpo_threshold.md). The paper takes fewer
where the features are too many for their covariance; a table's are not.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", equation (3) and 5.1.
"""

from __future__ import annotations

import torch

from cutlayer.games.split_server.defense import Clients
from cutlayer.information import gaussian_leakage


class Leakage:
    """The Gaussian leakage of the features, on `components` principal axes."""

    def __init__(self, clients: Clients, components: int, rows: int, refresh: int) -> None:
        self.clients, self.components, self.rows, self.refresh = clients, components, rows, refresh
        self.trace: list[float] = []  # L_p at each step
        self._value = 0.0
        self._gradient: tuple[torch.Tensor, ...] = ()

    def loss(self, rows: torch.Tensor) -> torch.Tensor:
        """L_p of some training rows (B,) and the encoder as it is, differentiable."""
        features = self.clients.features(rows).flatten(1)
        return gaussian_leakage(features, self.clients.attribute[rows], self.clients.sigma, self.components)

    def __call__(self) -> tuple[float, torch.Tensor]:
        """(L_p, a scalar whose gradient with respect to the encoder is L_p's) at one more step."""
        if len(self.trace) % self.refresh == 0:
            loss = self.loss(self.drawn())
            self._value, self._gradient = float(loss.detach()), torch.autograd.grad(loss, self.clients.parameters)
        self.trace.append(self._value)
        pairs = zip(self._gradient, self.clients.parameters, strict=True)
        return self._value, torch.stack([(slope * parameter).sum() for slope, parameter in pairs]).sum()

    def drawn(self) -> torch.Tensor:
        """(rows,) random places among the training rows, all if there are no more."""
        n, clients = len(self.clients.attribute), self.clients
        if n <= self.rows:
            return torch.arange(n, device=clients.device)
        return torch.randperm(n, generator=clients.generator)[: self.rows].to(clients.device)
