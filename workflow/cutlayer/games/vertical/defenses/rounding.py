"""rounding: reveals scores of few decimals.

A score c is revealed as round(10^n c) / 10^n, and rows are not normalized again, as in the code of Luo et al. A small
score becomes 0. Of two classes with equal rounded scores the first one is the decision.

Luo, Wu, Xiao, Ooi, "Feature Inference Attack on Model Predictions in Vertical Federated Learning", ICDE 2021.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.core.limits import Limits
from cutlayer.games.vertical.defense import Context, Defense


@dataclass(frozen=True)
class Rounding(Defense):
    """Scores rounded to a number of decimals; a row need not sum to 1."""

    distributions: ClassVar[bool] = False
    limits: ClassVar[Limits] = {"decimals": (0, 15)}

    decimals: int = 1

    def reveal(self, logits: np.ndarray, context: Context) -> np.ndarray:
        """Rounded scores, which may tie."""
        return super().reveal(logits, context).round(self.decimals)
