"""Gaussian leakage L_p at each training step, estimated on the batch as in the published algorithm, or on more rows.

A batch is too small to estimate L_p: for A classes with equal moments, the estimate of N rows is biased to about
(A - 1) (k + k (k + 1) / 2) / N on k axes where the noise is small compared with the features, 0.6 for two classes, 16
axes and 256 rows. So the published algorithm exceeds its threshold in most steps, and weights privacy more. With `rows`
L_p is estimated on so many rows drawn anew, with less bias: then less is protected
(docs/readings/tcpo.md). On a few axes it ignores the leakage of the others.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", equation (3) and 5.1.
"""

from __future__ import annotations

import torch

from cutlayer.games.split_server.defense import ClientsContext
from cutlayer.information import gaussian_leakage


class Leakage:
    """Gaussian leakage of features on `components` principal axes, with the noise's or the `kernels`' bandwidth."""

    def __init__(self, clients: ClientsContext, components: int, rows: int = 0, kernels: bool = False) -> None:
        self.clients, self.components, self.rows, self.kernels = clients, components, rows, kernels
        self.trace: list[float] = []  # L_p at each step

    def __call__(self, features: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """L_p (a scalar) at one more step, of the features (B, ...) of training rows (B,) or of `rows` random rows."""
        loss = self.drawn() if self.rows else self._of(features, places)
        self.trace.append(float(loss.detach()))
        return loss

    def drawn(self) -> torch.Tensor:
        """L_p of random rows: a batch, or `rows`."""
        places = self._drawn() if self.rows else self.clients.batch()
        return self._of(self.clients.features(places), places)

    def _of(self, features: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        attribute = self.clients.attribute[places]
        return gaussian_leakage(features.flatten(1), attribute, self.clients.sigma, self.components, self.kernels)

    def _drawn(self) -> torch.Tensor:
        """Random places (rows,) among the training rows, without replacement; all if there are no more."""
        n, clients = len(self.clients.attribute), self.clients
        if n <= self.rows:
            return torch.arange(n, device=clients.device)
        return torch.randperm(n, generator=clients.generator)[: self.rows].to(clients.device)
