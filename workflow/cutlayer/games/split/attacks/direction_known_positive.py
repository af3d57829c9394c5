"""direction_known_positive: scores each example by the cosine similarity of its gradient with a known positive's.

The known example itself gets no score. Opposite directions separate the classes in balanced batches too, where the
majority vote of `direction` does not.

Li et al., "Label Leakage and Protection in Two-party Split Learning", the later version's cosine attack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.core.transcript import View
from cutlayer.games.split.attack import Attack


@dataclass(frozen=True)
class DirectionKnownPositive(Attack):
    """Cosine similarity with the gradient of the first known positive."""

    sees: ClassVar[set[str]] = {"gradients", "hints"}
    classes: ClassVar[set[int]] = {2}
    cheap: ClassVar[bool] = True

    def skip(self, view: View) -> str:
        """Needs one known positive in the batch."""
        return "" if len(view.hints) else "for batches with a known positive, here there is none"

    def infer(self, view: View) -> np.ndarray:
        """Scores (B,) of the examples, NaN for the known one."""
        known = int(view.hints[0])
        found = score(view.gradients, known)
        found[known] = np.nan
        return found


def score(gradients: np.ndarray, known: int) -> np.ndarray:
    """Cosine similarities (B,) of gradients (B, d) with the gradient of the row `known`; 0 where either is zero."""
    G = np.asarray(gradients, dtype=np.float64)
    G = G / np.maximum(np.abs(G).max(axis=1, keepdims=True, initial=0), np.finfo(float).tiny)  # squares cannot vanish
    norms = np.linalg.norm(G, axis=1)
    return G @ G[known] / np.where(norms * norms[known] > 0, norms * norms[known], 1)
