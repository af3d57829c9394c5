"""linear: the clients minimize L_u + lambda L_p.

L_p is the Gaussian leakage of the features, or of their leading principal components, over the clients' rows, see
`_leakage`.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", equation (1) and 6.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from cutlayer.core.limits import Limits
from cutlayer.games.split_server.defense import Clients, Defense, Wire

from ._leakage import Leakage


@dataclass(frozen=True)
class Linear(Defense):
    """Linear scalarization."""

    limits: ClassVar[Limits] = {
        "weight": (0, None),
        "components": (1, None),
        "rows": (2, None),
        "refresh": (1, None),
    }

    weight: float = 0.5  # lambda
    components: int = 64  # at most: all that mlp sends, for L_p knows nothing of what is beside them
    rows: int = 30000  # that L_p is taken of, at most
    refresh: int = 80  # steps from one time to the next

    def begin(self, clients: Clients) -> Leakage:
        """L_p of the clients' rows."""
        return Leakage(clients, self.components, self.rows, self.refresh)

    def penalty(self, features: torch.Tensor, wire: Wire) -> torch.Tensor:
        """Lambda L_p."""
        return self.weight * wire.state()[1]

    def report(self, state: Leakage) -> dict[str, np.ndarray | float]:
        """L_p at each step."""
        return {"leakage": np.array(state.trace)}
