"""adv: the clients train an adversary of their own, and the encoder to make it wrong.

Before each step of the encoder the adversary, of the classifier's shape, takes `steps` steps towards the attribute of
what it sees: one on the encoder's batch, the others on batches drawn anew. The encoder then minimizes L_u - omega times
the adversary's cross-entropy. The paper trains "until the simulated adversary fails": one that cannot follow the
encoder has failed before the encoder hides anything, so its steps are to be tuned, as the weight is.

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
    """A network (features, {}) -> logits (B, values), and its optimizer."""

    network: torch.nn.Module
    optimizer: torch.optim.Adam

    def learn(self, features: torch.Tensor, attribute: torch.Tensor) -> None:
        """One step on features (B, ...) whose attribute (B,) is known."""
        descend(self.optimizer, cross_entropy(self.network(features, {}), attribute))


@dataclass(frozen=True)
class Adv(Defense):
    """Adversarial training."""

    limits: ClassVar[Limits] = {"weight": (0, None), "rate": (0, None), "steps": (1, None)}

    weight: float = 1.0  # omega
    rate: float = 0.001  # the adversary's, with Adam
    steps: int = 5  # of the adversary for each of the encoder's
    batches: Literal["other", "same"] = "other"  # that it takes its further steps on
    sees: Literal["features", "noised"] = "features"  # f(x), as the paper's attacks do, or what crosses the cut

    def begin(self, clients: ClientsContext) -> Adversary:
        """An adversary that knows nothing."""
        network = clients.decoder(clients.values)
        return Adversary(network, torch.optim.Adam(network.parameters(), self.rate, fused=True))

    def penalty(self, features: torch.Tensor, context: Context) -> torch.Tensor:
        """Omega times what the encoder has to lose, once the adversary has taken its steps."""
        for other, attribute in self._further(features, context):
            context.state.learn(self._seen(other, context.clients), attribute)
        seen = self._seen(features, context.clients)
        context.state.learn(seen.detach(), context.attribute)
        return self.weight * self._harm(context.state.network(seen, {}), context.attribute)

    def _further(self, features: torch.Tensor, context: Context) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Features (B, ...) and attribute (B,) of the steps before the last; one pass encodes them all."""
        clients, more = context.clients, self.steps - 1
        if self.batches == "same" or not more:
            return [(features.detach(), context.attribute)] * more
        rows = [clients.batch() for _ in range(more)]
        with torch.no_grad():
            encoded = clients.features(torch.cat(rows)).split([len(own) for own in rows])
        return [(some, clients.attribute[own]) for some, own in zip(encoded, rows, strict=True)]

    def _seen(self, features: torch.Tensor, clients: ClientsContext) -> torch.Tensor:
        """What the adversary sees of features (B, ...)."""
        return features + clients.sigma * clients.randn(*features.shape) if self.sees == "noised" else features

    def _harm(self, logits: torch.Tensor, attribute: torch.Tensor) -> torch.Tensor:
        """The less, the worse the adversary's logits (B, values) are."""
        return -cross_entropy(logits, attribute)
