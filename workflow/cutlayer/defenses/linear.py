"""linear: the clients minimize L_u + lambda L_p.

L_p is the Gaussian leakage of the features' leading principal components, see `_leakage`.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", equation (1) and 6.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..limits import Limits
from ._leakage import Leakage
from .base import Clients, Defense, FeatureWire

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Linear(Defense):
    """Linear scalarization."""

    protocols: ClassVar[set[str]] = {"split_server"}
    limits: ClassVar[Limits] = {
        "weight": (0, None),
        "components": (1, None),
        "decay": (0, 0.9999),
        "refresh": (1, None),
    }

    weight: float = 0.5  # lambda
    components: int = 4
    decay: float = 0.98
    refresh: int = 10  # steps from one set of axes to the next

    def join(self, clients: Clients) -> Leakage:
        """No moments yet."""
        return Leakage(clients.values, clients.sigma, self.components, self.decay, self.refresh)

    def penalty(self, features: torch.Tensor, wire: FeatureWire) -> torch.Tensor:
        """Lambda L_p."""
        return self.weight * wire.state(features, wire.attribute)[1]

    def report(self, state: Leakage) -> dict[str, np.ndarray | float]:
        """L_p at each step."""
        return {"leakage": np.array(state.trace)}
