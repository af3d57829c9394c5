"""off_axis: noise that only one class has across the axis between the classes tells that class by its energy.

Gradients of one batch span few directions, for they all are a number times nearly the same slope. In the others the
batch has what noise put there, and nothing else. marvell's theorem 1 gives noise across the axis to one class only, the
one with the smaller variance *averaged over coordinates*, as if every class were spread alike in all directions; where
the other class has no variance at all, a row with energy is of the first class and a row without is of the second.

The batch is centered and rotated to its principal directions; an example's energy is the log of its squared norm in
the `share` of them with least variance or, if `out` is given, in all but the first `out`. Two exact clusters of the
energies tell which side is the minority, that is positive.

It says nothing where all rows get the same noise (iso), none off their own line (no defense, max_norm), or where
gradients do fill all directions as marvell's model has it. Ours; the assumption it uses is that of theorem 1 in Li et
al., "Label Leakage and Protection in Two-party Split Learning".
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
    """The log energy in the directions of least variance, more being positive if few have more."""

    knows: ClassVar[str] = "that marvell's noise across the axis is of one class"
    sees: ClassVar[set[str]] = {"gradients"}
    classes: ClassVar[set[int]] = {2}
    limits: ClassVar[Limits] = {"share": (0, 1), "out": (0, None)}
    cheap: ClassVar[bool] = True

    share: float = 0.25  # of the directions; one at least
    out: int = 0  # directions that are left out instead; 0: see `share`

    def infer(self, view: View) -> np.ndarray:
        """(B,) scores."""
        return score(view.gradients, self.share, self.out)


def score(gradients: np.ndarray, share: float = 0.25, out: int = 0) -> np.ndarray:
    """The log energy (B,) of each row of (B, d) in the directions of least variance, or minus it; 0 for equal rows.

    These are a `share` of all or, if `out` is not 0, all but the first `out`; one at least.
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
