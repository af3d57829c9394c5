"""direction_known_positive: the more a gradient points like that of one known positive, the rather it is positive.

The known example itself is not guessed. Opposite directions tell the classes apart in balanced batches too, where
`direction`'s majority does not.

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
    """The cosine similarity with the first of the hints."""

    sees: ClassVar[set[str]] = {"gradients", "hints"}
    classes: ClassVar[set[int]] = {2}
    cheap: ClassVar[bool] = True

    def skip(self, view: View) -> str:
        """One positive has to be known."""
        return "" if len(view.hints) else "for batches with a known positive, here there is none"

    def infer(self, view: View) -> np.ndarray:
        """(B,) scores, NaN for the known example."""
        known = int(view.hints[0])
        found = score(view.gradients, known)
        found[known] = np.nan
        return found


def score(gradients: np.ndarray, known: int) -> np.ndarray:
    """The cosine similarity (B,) of each row of (B, d) with the row `known`; 0 where one of them is zero."""
    G = np.asarray(gradients, dtype=np.float64)
    G = G / np.maximum(np.abs(G).max(axis=1, keepdims=True, initial=0), np.finfo(float).tiny)  # squares cannot vanish
    norms = np.linalg.norm(G, axis=1)
    return G @ G[known] / np.where(norms * norms[known] > 0, norms * norms[known], 1)
