"""The training step of split_server on mlp for several settings at once: weights (S, in, out), biases (S, 1, out).

The operations are those of `games/split_server/protocol.py` and, if the settings are adv's, of its `defenses/adv.py`.
All settings see the same rows, and each draws its own noise as it does alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch.nn.functional import batch_norm, cross_entropy

from cutlayer.games.split_server.data import ServerData
from cutlayer.games.split_server.defenses.adv import Adv
from cutlayer.games.split_server.protocol import Parties


class Stacked:
    """Copies of the parties of some settings, as they are, trained together."""

    def __init__(self, parties: Sequence[Parties], data: ServerData) -> None:
        self.parties, self.data, first = parties, data, parties[0]
        self.encoder = stack([each.encoder for each in parties])
        self.classifier = stack([each.classifier for each in parties])
        self.client = torch.optim.Adam(self.encoder, rate_of(first.client), fused=True)
        self.server = torch.optim.Adam(self.classifier, rate_of(first.server), fused=True)
        self.mean, self.variance = moments(parties)
        self.adversary: list[torch.Tensor] = []
        if isinstance(first.defense, Adv):
            self.adversary = stack([each.state.network for each in parties])
            self.learner = torch.optim.Adam(self.adversary, first.defense.rate, fused=True)
            self.weights = torch.tensor([cast(Adv, each.defense).weight for each in parties])

    def step(self, rows: torch.Tensor) -> list[float]:
        """One batch there and back; returns the utility losses (S)."""
        features = self.features(self.data.encode(rows)["columns"])
        sent: Any = self.noisy(features.detach()).requires_grad_()
        self.server.zero_grad()
        losses = entropies(layers(self.classifier, sent), self.data.labels[rows])
        losses.sum().backward()
        self.server.step()

        self.client.zero_grad()
        goal = (features * sent.grad).sum()
        (goal + self.penalty(features, self.data.attribute[rows]) if self.adversary else goal).backward()
        self.client.step()
        return losses.detach().tolist()

    def features(self, columns: torch.Tensor) -> torch.Tensor:
        """Columns (B, d) to features (S, B, k), each setting's normalized over the batch."""
        last = layers(self.encoder, columns.expand(len(self.parties), *columns.shape))
        settings, batch, width = last.shape
        side = last.transpose(0, 1).reshape(batch, settings * width)
        normal = batch_norm(side, self.mean, self.variance, training=True)
        return normal.view(batch, settings, width).transpose(0, 1)

    def noisy(self, features: torch.Tensor) -> torch.Tensor:
        """Features (S, B, k) as they cross the cut."""
        noise = torch.stack([each.clients.randn(*features.shape[1:]) for each in self.parties])
        return features + self.parties[0].sigma * noise

    def penalty(self, features: torch.Tensor, attribute: torch.Tensor) -> torch.Tensor:
        """adv's, summed over the settings, once the adversaries have taken their step."""
        seen = self.noisy(features)
        self.learner.zero_grad()
        entropies(layers(self.adversary, seen.detach()), attribute).sum().backward()
        self.learner.step()
        return -(self.weights * entropies(layers(self.adversary, seen), attribute)).sum()

    def differences(self, others: Sequence[Parties]) -> tuple[float, float]:
        """The greatest relative difference of a weight, bias or running moment (norms) to those trained alone.

        The second is that of the bias before the normalization, which takes it away again, and of the running mean,
        which follows it: its gradient is 0 but for rounding, and Adam makes steps of that.
        """
        mean, variance = moments(others)
        pairs = list(zip(self.encoder, stack([each.encoder for each in others]), strict=True))
        free = [pairs.pop(), (self.mean, mean)]
        pairs += [*zip(self.classifier, stack([each.classifier for each in others]), strict=True)]
        pairs += [(self.variance, variance)]
        if self.adversary:
            pairs += zip(self.adversary, stack([each.state.network for each in others]), strict=True)
        return apart(pairs), apart(free)


def rate_of(optimizer: torch.optim.Optimizer) -> float:
    """The rate that it was made with."""
    return float(optimizer.param_groups[0]["lr"])


def moments(parties: Sequence[Parties]) -> tuple[torch.Tensor, torch.Tensor]:
    """Running means and variances (S k,) of the encoders' normalizations."""
    normals: list[Any] = [each.encoder.normal for each in parties]
    return torch.cat([each.running_mean for each in normals]), torch.cat([each.running_var for each in normals])


def apart(pairs: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> float:
    """The greatest relative difference of some pairs."""
    with torch.no_grad():
        return max(float((mine - other).norm() / other.norm()) for mine, other in pairs)


def stack(networks: Sequence[torch.nn.Module]) -> list[torch.Tensor]:
    """Weights (S, in, out) and biases (S, 1, out) of the layers of S networks, in their order."""
    tensors = zip(*(network.parameters() for network in networks), strict=True)
    return [torch.stack([p.mT if p.ndim > 1 else p[None] for p in some]).detach().requires_grad_() for some in tensors]


def layers(weights: Sequence[torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """(S, B, in) to (S, B, out), with ReLU between the layers."""
    for place in range(0, len(weights), 2):
        x = torch.baddbmm(weights[place + 1], x.relu() if place else x, weights[place])
    return x


def entropies(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """(S,) mean cross-entropies of logits (S, B, classes) with the same targets (B,)."""
    settings, batch, _ = logits.shape
    each = cross_entropy(logits.flatten(0, 1), targets.repeat(settings), reduction="none")
    return each.view(settings, batch).mean(dim=1)
