"""half: estimates every feature by 1/2, the center of [0, 1]^d; a baseline.

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", V.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.core.transcript import View
from cutlayer.games.vertical.attack import Attack


@dataclass(frozen=True)
class Half(Attack):
    """Blind baseline of 1/2 for every feature; it uses no scores."""

    sees: ClassVar[set[str]] = {"scores", "passive"}
    cheap: ClassVar[bool] = True

    def infer(self, view: View) -> np.ndarray:
        """Estimates (N x d) of the passive features."""
        return np.full((len(view.scores), len(view.passive)), 0.5)
