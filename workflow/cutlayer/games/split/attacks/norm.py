"""norm: scores each example by its gradient norm; positives tend to have larger gradients.

Where positives are few the model is more confident on negatives, so that |p - y|, a factor of the gradient, is larger
for positives. At `first_layer` the score is the norm of the gradient that the feature party obtains at the output of
its first layer by back-propagating what it received.

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
    """L2 norm of each example's gradient, at the cut or at the feature party's first layer."""

    sees: ClassVar[set[str]] = {"gradients", "first_gradients"}
    classes: ClassVar[set[int]] = {2}
    cheap: ClassVar[bool] = True

    at: Literal["cut", "first_layer"] = "cut"

    def skip(self, view: View) -> str:
        """At `first_layer`, needs a setup that records its gradients."""
        if self.at == "cut" or "first_gradients" in view:
            return ""
        return "for setups that record the first layer's gradients, here only those at the cut are"

    def infer(self, view: View) -> np.ndarray:
        """Scores (B,) of the examples."""
        return score(view.gradients if self.at == "cut" else view.first_gradients)


def score(gradients: np.ndarray) -> np.ndarray:
    """L2 norms (B,) of gradients (B, d)."""
    return np.linalg.norm(np.asarray(gradients, dtype=np.float64), axis=1)
