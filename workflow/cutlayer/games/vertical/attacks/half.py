"""half: guess 1/2 for every feature, the center of [0, 1]^d.

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
    """A blind guess that uses nothing but the number of features."""

    sees: ClassVar[set[str]] = {"scores", "passive"}
    cheap: ClassVar[bool] = True

    def infer(self, view: View) -> np.ndarray:
        """N x d guesses."""
        return np.full((len(view.scores), len(view.passive)), 0.5)
