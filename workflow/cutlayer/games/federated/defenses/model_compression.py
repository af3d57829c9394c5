"""model_compression: upload only the parameters of the greatest magnitude.

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
    """Small parameters become 0."""

    limits: ClassVar[Limits] = {"share": (0, 1)}
    strength: ClassVar[str] = "share"
    strengths: ClassVar[tuple[float, float]] = (0.0, 1.0)

    share: float = 0.5  # of a device's parameters, that are not sent

    def upload(self, before: torch.Tensor, after: torch.Tensor, federation: FederationContext) -> torch.Tensor:
        """The parameters (D, P) with so many of each row 0; what ties with the last of them goes too."""
        count = round(self.share * after.shape[1])
        if not count:
            return after
        sizes = after.abs()
        return after.masked_fill(sizes <= sizes.kthvalue(count, dim=1, keepdim=True).values, 0.0)
