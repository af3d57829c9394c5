"""direction: scores each example by how few of its cosine similarities with the rest of the batch are positive.

Gradients of one class point one way and most examples are negative, so that a negative agrees with most of the batch.
The guess `vote` is the paper's rule: negative if more than half of the similarities are positive, else positive. A
similarity with a zero gradient counts as 0.

Li et al., "Label Leakage and Protection in Two-party Split Learning", 3, other related attacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.core.transcript import View
from cutlayer.games.split.attack import Attack

ROWS = 1024  # of the matrix of similarities, at a time


@dataclass(frozen=True)
class Direction(Attack):
    """Minus the share of positive cosine similarities, and the paper's hard labels (`vote`)."""

    sees: ClassVar[set[str]] = {"gradients"}
    classes: ClassVar[set[int]] = {2}
    cheap: ClassVar[bool] = True

    def infer(self, view: View) -> dict[str, np.ndarray]:
        """Scores (B,) of the examples, and hard labels as `vote`: 1 for positive and 0 for negative."""
        found = score(view.gradients)
        return {"": found, "vote": vote(found)}


def score(gradients: np.ndarray) -> np.ndarray:
    """Minus the share (B,) of the other rows with which a row of (B, d) has a positive cosine; 0 for a single row."""
    G = _scaled(gradients)
    if len(G) < 2:
        return np.zeros(len(G))
    parts = np.array_split(G, -(-len(G) // ROWS))
    agree = np.concatenate([np.count_nonzero(part @ G.T > 0, axis=1) for part in parts])
    return -((agree - G.any(axis=1)) / (len(G) - 1))


def vote(scores: np.ndarray) -> np.ndarray:
    """Hard labels (B,): 0.0 (negative) where most similarities are positive by the scores (B,), else 1.0."""
    return np.where(-scores > 0.5, 0.0, 1.0)


def _scaled(gradients: np.ndarray) -> np.ndarray:
    """The rows scaled to a largest entry of about 1, so that inner products, whose sign is the cosine's, cannot vanish.

    The factors are powers of 2, so that nothing is rounded.
    """
    G = np.asarray(gradients, dtype=np.float64)
    _, exponents = np.frexp(np.abs(G).max(axis=1, keepdims=True, initial=0))
    return np.ldexp(G, -exponents)
