"""off_axis: against marvell, scores each example by its energy off the axis of the classes, where one class has noise.

Gradients of one batch span few directions, because all are multiples of nearly the same slope. In the other directions
the batch has noise and nothing else. marvell's theorem 1 gives noise orthogonal to the axis to one class only, the one
with the smaller variance *averaged over coordinates*, as if the gradients of a class were isotropic. Where they have no
variance in these directions, a row with energy there is of that class and a row without is of the other.

The batch is centered and rotated to its principal directions; an example's energy is the log of its squared norm in
the `share` of them with least variance or, if `out` is given, in all but the first `out`. Exact two-means clustering
of the energies finds the minority, which is taken for positive.

It infers nothing where all rows get the same noise (iso), where noise stays on a gradient's own line (max_norm, no
defense), or where gradients are isotropic as marvell models them. Ours; it exploits the assumption of theorem 1 in Li
et al., "Label Leakage and Protection in Two-party Split Learning". That Marvell does not stop label inference was said
first by Liu et al., "Similarity-based Label Inference Attack against Training and Inference of Split Learning",
2203.05222; new here, as far as abstracts and codes show, are the cause, and one batch without a known label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.split.attack import Attack

from ._two_means import two_means


@dataclass(frozen=True)
class OffAxis(Attack):
    """Log energy in the directions of least variance, with the sign that makes the minority positive."""

    knows: ClassVar[str] = "that marvell's noise across the axis is of one class"
    sees: ClassVar[set[str]] = {"gradients"}
    classes: ClassVar[set[int]] = {2}
    limits: ClassVar[Limits] = {"share": (0, 1), "out": (0, None)}
    cheap: ClassVar[bool] = True

    share: float = 0.25  # of the directions; one at least
    out: int = 0  # directions that are left out instead; 0: see `share`

    def infer(self, view: View) -> np.ndarray:
        """Scores (B,) of the examples."""
        return score(view.gradients, self.share, self.out)


def score(gradients: np.ndarray, share: float = 0.25, out: int = 0) -> np.ndarray:
    """Log energies (B,) of gradients (B, d) in the directions of least variance, or minus them; 0 for equal rows.

    The directions are a `share` of all or, if `out` is not 0, all but the first `out`; one at least.
    """
    G = np.asarray(gradients, dtype=np.float64)
    G = np.where(np.ptp(G, axis=0) > 0, G - G.mean(axis=0), 0)  # equal entries differ from their rounded mean
    G = G / (np.abs(G).max(initial=0) or 1)  # squares cannot vanish
    basis = np.linalg.svd(np.linalg.qr(G, mode="r"), full_matrices=True)[2]
    kept = len(basis) - out if out else int(share * len(basis))
    least = basis[-max(1, kept) :]
    energy = np.log(np.maximum(np.square(G @ least.T).sum(axis=1), np.finfo(float).tiny))
    few = two_means(energy) == 1
    return -energy if few.any() and energy[few].mean() < energy[~few].mean() else energy
