"""hint: scores each example by the similarity of its gradient to those of a few known positives.

The adversary knows a few positives of each batch. `inner`: the largest inner product with any of them, as in the
paper's figure 3; `cosine`: the largest cosine similarity, which section 5.3 names beside it. `longest`: the inner
product with the longest of them; `distance`: minus the Euclidean distance to the nearest; these two are the official
code's. The known examples get no score.

Under marvell the noise along the line of a known positive's gradient goes to both classes, the noise orthogonal to it
to one class only. Where a class's gradients are spread in few directions, so that this noise is not hidden by their own
spread, the cosine, which compares the two, separates the classes; the inner product, which the noise along the line
dominates, does not.

Li et al., "Label Leakage and Protection in Two-party Split Learning", 5.3, figure 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from cutlayer.core.errors import InputError
from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.split.attack import Attack

from ._directions import directions

KINDS = ("inner", "cosine", "longest", "distance")


@dataclass(frozen=True)
class Hint(Attack):
    """Similarity to the gradients of the first `hints` known positives."""

    sees: ClassVar[set[str]] = {"gradients", "hints"}
    classes: ClassVar[set[int]] = {2}
    limits: ClassVar[Limits] = {"hints": (1, 5)}  # the protocol reveals five at most
    cheap: ClassVar[bool] = True

    kind: Literal["inner", "cosine", "longest", "distance"] = "inner"
    hints: int = 5

    def skip(self, view: View) -> str:
        """Needs `hints` known positives in the batch."""
        found = len(view.hints)
        return "" if found >= self.hints else f"for batches with {self.hints} known positives, here there are {found}"

    def infer(self, view: View) -> np.ndarray:
        """Scores (B,) of the examples, NaN for the known ones."""
        known = view.hints[: self.hints]
        found = score(view.gradients, known, self.kind)
        found[known] = np.nan
        return found


def score(gradients: np.ndarray, hints: np.ndarray, kind: str) -> np.ndarray:
    """Similarity (B,) of each gradient of (B, d) to the known positives: places (H,) of rows, or gradients (H, d)."""
    G = np.asarray(gradients, dtype=np.float64)
    H = _rows(G, np.asarray(hints))
    if kind == "inner":
        return (G @ H.T).max(axis=1)
    if kind == "cosine":
        return (directions(G) @ directions(H).T).max(axis=1)
    if kind == "longest":
        return G @ H[np.linalg.norm(H, axis=1).argmax()]
    if kind == "distance":
        return -np.min([np.linalg.norm(G - h, axis=1) for h in H], axis=0)
    raise InputError("attack.hint", f"kind = {kind!r}", f"allowed: {', '.join(map(repr, KINDS))}")


def _rows(G: np.ndarray, hints: np.ndarray) -> np.ndarray:
    """The gradients (H, d) of the known positives."""
    places = hints.ndim == 1 and np.issubdtype(hints.dtype, np.integer)
    if not len(hints) or not (places or (hints.ndim == 2 and hints.shape[1] == G.shape[1])):
        found = f"the hints have the shape {hints.shape} and the type {hints.dtype}"
        raise InputError("attack.hint", found, f"(H,) integer places or (H, {G.shape[1]}) gradients, H at least 1")
    return G[hints] if places else hints.astype(np.float64)
