"""score_noise: shifts the logits in the direction that increases the reconstruction error most, and keeps the argmax.

v_1, the right singular vector of A^+ J at its largest singular value, is the noise that adds most to the
error of the least squares attack for its power (theorem 4). Scheme 1 gives the top class the largest entry
of v_1 and scales to the budget (equations 91 to 93); scheme 2 adds sqrt(budget) v_1 and lifts the top class
to the maximum (equation 94); scheme 3 shrinks all logits by 1 - budget, which is a temperature.

Equation 94 leaves the top class tied with another, which can change the decision. Here the top class is lifted
`margin` above the maximum.

The sign of v_1 is arbitrary in the paper. Here the entry of largest magnitude is positive; of several
with equal magnitude, the last.

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", VII-B.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from cutlayer.core.errors import InputError
from cutlayer.core.limits import Limits
from cutlayer.games.vertical.defense import Context, Defense
from cutlayer.games.vertical.equations import difference_matrix, softmax
from cutlayer.theory.chebyshev import theorem4


@dataclass(frozen=True)
class ScoreNoise(Defense):
    """Noise on the logits that never changes the predicted class."""

    limits: ClassVar[Limits] = {"budget": (0, None), "margin": (1e-9, None)}

    scheme: Literal[1, 2, 3] = 1
    budget: float = 1.0  # alpha: squared norm of the noise; for scheme 3 the shrinkage, below 1
    margin: float = 1e-6  # scheme 2: how far the top logit ends above the next

    def __post_init__(self) -> None:
        if self.scheme == 3 and self.budget >= 1:
            raise InputError("defense.score_noise", f"budget = {self.budget}", "scheme 3: below 1")

    def reveal(self, logits: np.ndarray, context: Context) -> np.ndarray:
        """Scores of the shifted logits; all maximizers of a row remain its maximizers (footnote 19)."""
        top = logits == logits.max(axis=1, keepdims=True)
        if self.scheme == 3:
            return softmax((1 - self.budget) * logits)
        v = theorem4(context.coefficients, difference_matrix(logits.shape[1]))["direction"]
        if self.scheme == 1:
            noise = np.where(top, v.max(), v)
            return softmax(logits + np.sqrt(self.budget) * noise / np.linalg.norm(noise, axis=1, keepdims=True))
        shifted = logits + np.sqrt(self.budget) * v
        return softmax(np.where(top, shifted.max(axis=1, keepdims=True) + self.margin, shifted))
