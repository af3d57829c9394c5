"""norm: the longer an example's gradient, the rather it is positive.

Where positives are few the model is surer of the negatives, so that |p - y|, a factor of the gradient, is larger for
positives. At `first_layer` the score is the norm of what the gradient becomes when the feature party goes on
back-propagating it, down to the output of its first layer.

Li et al., "Label Leakage and Protection in Two-party Split Learning", 3 and figure 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from cutlayer.core.transcript import View
from cutlayer.games.split.attack import Attack


@dataclass(frozen=True)
class Norm(Attack):
    """The l2 norm of each example's gradient."""

    sees: ClassVar[set[str]] = {"gradients", "first_gradients"}
    classes: ClassVar[set[int]] = {2}
    cheap: ClassVar[bool] = True

    at: Literal["cut", "first_layer"] = "cut"

    def skip(self, view: View) -> str:
        """A setup need not record the first layer."""
        if self.at == "cut" or "first_gradients" in view:
            return ""
        return "for setups that record the first layer's gradients, here only those at the cut are"

    def infer(self, view: View) -> np.ndarray:
        """(B,) scores."""
        return score(view.gradients if self.at == "cut" else view.first_gradients)


def score(gradients: np.ndarray) -> np.ndarray:
    """The l2 norm (B,) of each row of (B, d)."""
    return np.linalg.norm(np.asarray(gradients, dtype=np.float64), axis=1)
