"""linear: linear scalarization, where the clients minimize the utility loss plus a penalty, L_u + lambda L_p.

L_p is the Gaussian leakage of the batch's features, or of their leading principal components, see `_leakage`.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", equation (1) and 6.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from cutlayer.core.limits import Limits
from cutlayer.games.split_server.defense import ClientsContext, Context, Defense

from ._leakage import Leakage


@dataclass(frozen=True)
class Linear(Defense):
    """Linear scalarization of the utility loss and the Gaussian leakage."""

    limits: ClassVar[Limits] = {"weight": (0, None), "components": (1, None)}

    weight: float = 0.5  # lambda
    components: int = 16  # principal axes, at most

    def begin(self, clients: ClientsContext) -> Leakage:
        """The Gaussian leakage L_p of a batch."""
        return Leakage(clients, self.components)

    def penalty(self, features: torch.Tensor, context: Context) -> torch.Tensor:
        """The penalty lambda L_p of the batch."""
        return self.weight * context.state(features, context.rows).to(features)

    def report(self, state: Leakage) -> dict[str, np.ndarray | float]:
        """L_p at each step."""
        return {"leakage": np.array(state.trace)}
