"""adv: the clients train an adversary of their own, and the encoder to make it wrong.

In each step the adversary, of the classifier's shape, takes a step towards the attribute of the batch's noisy
features; the encoder then minimizes L_u - omega times the adversary's cross-entropy.

Liu, Du, Shrivastava, Zhong, "Privacy Adversarial Network"; Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning
via Pareto Optimal Search", 6.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch.nn.functional import cross_entropy

from cutlayer.core.descent import descend
from cutlayer.core.limits import Limits
from cutlayer.games.split_server.defense import Clients, Defense, Wire


@dataclass(frozen=True)
class Adversary:
    """A network (features, {}) -> logits (B, values), and its optimizer."""

    network: torch.nn.Module
    optimizer: torch.optim.Adam

    def learn(self, features: torch.Tensor, attribute: torch.Tensor) -> None:
        """One step on features (B, ...) whose attribute (B,) is known."""
        descend(self.optimizer, cross_entropy(self.network(features, {}), attribute))


@dataclass(frozen=True)
class Adv(Defense):
    """Adversarial training."""

    limits: ClassVar[Limits] = {"weight": (0, None), "rate": (0, None)}

    weight: float = 1.0  # omega
    rate: float = 0.001  # the adversary's, with Adam

    def begin(self, clients: Clients) -> Adversary:
        """An adversary that knows nothing."""
        network = clients.decoder(clients.values)
        return Adversary(network, torch.optim.Adam(network.parameters(), self.rate, fused=True))

    def penalty(self, features: torch.Tensor, wire: Wire) -> torch.Tensor:
        """Omega times what the encoder has to lose, once the adversary has taken its step on the same noisy batch."""
        seen = features + wire.clients.sigma * wire.clients.randn(*features.shape)
        wire.state.learn(seen.detach(), wire.attribute)
        return self.weight * self._harm(wire.state.network(seen, {}), wire.attribute)

    def _harm(self, logits: torch.Tensor, attribute: torch.Tensor) -> torch.Tensor:
        """The less, the worse the adversary's logits (B, values) are."""
        return -cross_entropy(logits, attribute)
