"""adv: adversarial training of the encoder against an adversary that the clients simulate.

Before each step of the encoder the adversary, with the classifier's architecture, takes `steps` steps to predict the
attribute: one on the encoder's batch, the others on batches drawn anew. The encoder then minimizes L_u - omega times
the adversary's cross-entropy. The paper trains "until the simulated adversary fails": an adversary that cannot keep up
with the encoder has failed before the encoder hides anything, so its steps are to be tuned, as the weight is.

Liu, Du, Shrivastava, Zhong, "Privacy Adversarial Network"; Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning
via Pareto Optimal Search", 6.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch.nn.functional import cross_entropy

from cutlayer.core.descent import descend
from cutlayer.core.limits import Limits
from cutlayer.games.split_server.defense import ClientsContext, Context, Defense


@dataclass(frozen=True)
class Adversary:
    """The simulated adversary: a network (features, {}) -> logits (B, values), and its optimizer."""

    network: torch.nn.Module
    optimizer: torch.optim.Adam

    def learn(self, features: torch.Tensor, attribute: torch.Tensor) -> None:
        """One training step on features (B, ...) and their attribute (B,)."""
        descend(self.optimizer, cross_entropy(self.network(features, {}), attribute))


@dataclass(frozen=True)
class Adv(Defense):
    """Adversarial training: the encoder maximizes a simulated adversary's loss."""

    limits: ClassVar[Limits] = {"weight": (0, None), "rate": (0, None), "steps": (1, None)}

    weight: float = 1.0  # omega
    rate: float = 0.001  # the adversary's, with Adam
    steps: int = 5  # of the adversary for each of the encoder's
    batches: Literal["other", "same"] = "other"  # of the adversary's further steps
    sees: Literal["features", "noised"] = "features"  # f(x), as the paper's attacks do, or what crosses the cut

    def begin(self, clients: ClientsContext) -> Adversary:
        """A freshly initialized adversary."""
        network = clients.decoder(clients.values)
        return Adversary(network, torch.optim.Adam(network.parameters(), self.rate, fused=True))

    def penalty(self, features: torch.Tensor, context: Context) -> torch.Tensor:
        """Omega times the adversary loss to be minimized by the encoder, after the adversary's steps."""
        for other, attribute in self._further(features, context):
            context.state.learn(self._seen(other, context.clients), attribute)
        seen = self._seen(features, context.clients)
        context.state.learn(seen.detach(), context.attribute)
        return self.weight * self._harm(context.state.network(seen, {}), context.attribute)

    def _further(self, features: torch.Tensor, context: Context) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Features (B, ...) and attribute (B,) for the adversary's steps before the last, encoded in one pass."""
        clients, more = context.clients, self.steps - 1
        if self.batches == "same" or not more:
            return [(features.detach(), context.attribute)] * more
        rows = [clients.batch() for _ in range(more)]
        with torch.no_grad():
            encoded = clients.features(torch.cat(rows)).split([len(own) for own in rows])
        return [(some, clients.attribute[own]) for some, own in zip(encoded, rows, strict=True)]

    def _seen(self, features: torch.Tensor, clients: ClientsContext) -> torch.Tensor:
        """The features (B, ...) as the adversary sees them: with noise or without."""
        return features + clients.sigma * clients.randn(*features.shape) if self.sees == "noised" else features

    def _harm(self, logits: torch.Tensor, attribute: torch.Tensor) -> torch.Tensor:
        """Adversary loss to be minimized by the encoder: the negative cross-entropy of logits (B, values)."""
        return -cross_entropy(logits, attribute)
