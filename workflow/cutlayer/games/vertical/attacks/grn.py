"""grn: a generative regression network maps the adversary's features to the passive ones that give the scores.

One generator for all predictions, x^ = G(y, xi) with fresh noise xi ~ N(0, I) in each batch, is trained such that the
model's scores on (y, x^) are the revealed ones. It sees no row's score as input, so that what rows share averages out
noise: that is how it uses the correlation between the parties, which equation solvers cannot. Its loss depends on x^ by
W_pas x^ alone, and leaves open what exact scores leave open.

As in the official code: three layers of 600, 200 and 100 with layer normalization and ReLU, a sigmoid at the end, the
squared error of the scores summed over a batch, plus 0.25 times the variance of each feature over the batch, Adam.
Ours: the number of steps in place of 60 epochs, a larger rate, and that scores are the revealed ones, clamped to [0, 1]
and normalized; the code computes them again from the true features.

Luo, Wu, Xiao, Ooi, "Feature Inference Attack on Model Predictions in Vertical Federated Learning", ICDE 2021.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import nn

from cutlayer.core.descent import descend
from cutlayer.core.devices import randn, seeded
from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.vertical.attack import Attack

from ._scores import normalized

WIDTHS = (600, 200, 100)


@dataclass(frozen=True)
class GenerativeRegressionNetwork(Attack):
    """A generator of passive features, trained for `steps` batches."""

    sees: ClassVar[set[str]] = {"scores", "active_features", "active_weights", "passive_weights", "bias"}
    limits: ClassVar[Limits] = {"steps": (1, None), "rate": (0, None), "batch": (1, None), "variance": (0, None)}

    steps: int = 1000
    rate: float = 1e-3
    batch: int = 64
    variance: float = 0.25  # weight of the features' variances over a batch

    def infer(self, view: View) -> np.ndarray:
        """Estimates (N x d) of the passive features."""
        seed = int(view.rng.integers(2**63))
        draw = torch.Generator().manual_seed(seed)
        own_logits = view.active_features @ view.active_weights.T + view.bias
        parts = (view.active_features, own_logits, normalized(view.scores), view.passive_weights)
        own, known, shown, weights = (torch.tensor(part, dtype=torch.float32, device=view.device) for part in parts)
        d = weights.shape[1]
        with seeded(seed):
            network = _generator(own.shape[1] + d, d).to(view.device)

        def generated(rows: torch.Tensor) -> torch.Tensor:
            noise = randn((len(rows), d), draw, view.device, torch.float32)
            return network(torch.cat([own[rows], noise], dim=1))

        optimizer = torch.optim.Adam(network.parameters(), self.rate)
        for _ in range(self.steps):
            rows = torch.randperm(len(own), generator=draw)[: self.batch]
            guess = generated(rows)
            scores = torch.softmax(known[rows] + guess @ weights.T, dim=1)
            spread = guess.var(dim=0, correction=0).sum()
            descend(optimizer, (scores - shown[rows]).square().sum() + self.variance * spread)
        with torch.no_grad():
            return generated(torch.arange(len(own))).cpu().numpy().astype(np.float64)


def _generator(inputs: int, outputs: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for before, after in zip((inputs, *WIDTHS), WIDTHS, strict=False):
        layers += [nn.Linear(before, after), nn.LayerNorm(after), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(WIDTHS[-1], outputs), nn.Sigmoid())
