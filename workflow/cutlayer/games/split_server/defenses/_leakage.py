"""L_p at each step of a training: of the batch that is sent, as the algorithm prints it, or of more rows.

A batch is too small to know L_p: of A classes with equal moments, N rows show about (A - 1) (k + k (k + 1) / 2) / N
on k axes where the noise is small against the features, 0.6 for two classes, 16 axes and 256 rows. So the printed
algorithm sees itself over its threshold in most steps, and gives privacy the more weight. With `rows` L_p is taken of
so many rows drawn anew, and nearer to what it is: then less is protected (workflow/benchmarks/readings_tcpo.md). On a
few axes it says nothing of the others.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", equation (3) and 5.1.
"""

from __future__ import annotations

import torch

from cutlayer.games.split_server.defense import ClientsContext
from cutlayer.information import gaussian_leakage


class Leakage:
    """The Gaussian leakage of the features, on `components` principal axes, with noise or as `kernels` estimate it."""

    def __init__(self, clients: ClientsContext, components: int, rows: int = 0, kernels: bool = False) -> None:
        self.clients, self.components, self.rows, self.kernels = clients, components, rows, kernels
        self.trace: list[float] = []  # L_p at each step

    def __call__(self, features: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """L_p (a scalar) at one more step: of the features (B, ...) of the training rows (B,), or of `rows` rows."""
        loss = self.drawn() if self.rows else self._of(features, places)
        self.trace.append(float(loss.detach()))
        return loss

    def drawn(self) -> torch.Tensor:
        """L_p of rows drawn anew: a batch, or `rows`."""
        places = self._drawn() if self.rows else self.clients.batch()
        return self._of(self.clients.features(places), places)

    def _of(self, features: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        attribute = self.clients.attribute[places]
        return gaussian_leakage(features.flatten(1), attribute, self.clients.sigma, self.components, self.kernels)

    def _drawn(self) -> torch.Tensor:
        """(rows,) random places among the training rows, none twice; all if there are no more."""
        n, clients = len(self.clients.attribute), self.clients
        if n <= self.rows:
            return torch.arange(n, device=clients.device)
        return torch.randperm(n, generator=clients.generator)[: self.rows].to(clients.device)
