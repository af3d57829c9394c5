"""zero: estimates every feature by 0; a baseline.

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", VIII-A.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.core.transcript import View
from cutlayer.games.vertical.attack import Attack


@dataclass(frozen=True)
class Zero(Attack):
    """Blind baseline of 0 for every feature; it uses no scores."""

    sees: ClassVar[set[str]] = {"scores", "passive"}
    cheap: ClassVar[bool] = True

    def infer(self, view: View) -> np.ndarray:
        """Estimates (N x d) of the passive features."""
        return np.full((len(view.scores), len(view.passive)), 0.0)
