"""model_compression: prunes uploads, so that devices send only the parameters of largest magnitude.

Each device sets to 0 the given share of its trained parameters, those of least magnitude; a parameter that is not sent
counts as 0 in the server's average. The paper prunes by a threshold and tunes a pruning rate: this is that rate, and
each device's threshold the quantile which gives it. Zhu, Liu and Han prune gradients in this way, not parameters.

Zhu, Liu, Han, "Deep Leakage from Gradients", 5; Arroyo Arevalo et al., "Task-Agnostic Privacy-Preserving Representation
Learning for Federated Learning Against Attribute Inference Attacks", Results.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from cutlayer.core.limits import Limits
from cutlayer.games.federated.defense import Defense, FederationContext


@dataclass(frozen=True)
class ModelCompression(Defense):
    """Magnitude pruning of uploaded parameters."""

    limits: ClassVar[Limits] = {"share": (0, 1)}
    strength: ClassVar[str] = "share"
    strengths: ClassVar[tuple[float, float]] = (0.0, 1.0)

    share: float = 0.5  # of a device's parameters, that are not sent

    def upload(self, before: torch.Tensor, after: torch.Tensor, federation: FederationContext) -> torch.Tensor:
        """The parameters (D, P) with the given share of each row set to 0, and ties with the last of them."""
        count = round(self.share * after.shape[1])
        if not count:
            return after
        sizes = after.abs()
        return after.masked_fill(sizes <= sizes.kthvalue(count, dim=1, keepdim=True).values, 0.0)
