"""spectral: the two classes are two groups along the direction in which a batch varies most.

The score is the projection of the centered gradients (or embeddings) on their top right singular vector. Its sign is
arbitrary: the guess is its square, `signed` the projection itself (to be read by the symmetrized AUC), `clusters` the
labels of an exact two-means on the projections, the smaller cluster being positive.

Sun et al., "Label Leakage and Protection from Forward Embedding in Vertical Federated Learning"; as used in Jiang et
al., "Training on Fake Labels".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from cutlayer.core.transcript import View
from cutlayer.games.split.attack import Attack


@dataclass(frozen=True)
class Spectral(Attack):
    """The projection on the top singular vector, its square, and its two clusters."""

    sees: ClassVar[set[str]] = {"gradients", "embeddings"}
    classes: ClassVar[set[int]] = {2}
    cheap: ClassVar[bool] = True

    source: Literal["gradients", "embeddings"] = "gradients"

    def infer(self, view: View) -> dict[str, np.ndarray]:
        """(B,) scores of each kind."""
        signed = score(view.gradients if self.source == "gradients" else view.embeddings)
        return {"": signed**2, "signed": signed, "clusters": two_means(signed)}


def score(matrix: np.ndarray) -> np.ndarray:
    """The projection (B,) of the column-centered (B, d) on its top right singular vector; 0 for equal rows.

    The vector's largest entry in magnitude (the first of several) is positive.
    """
    M = np.asarray(matrix, dtype=np.float64)
    centered = np.where(np.ptp(M, axis=0) > 0, M - M.mean(axis=0), 0)  # equal entries differ from their rounded mean
    top = np.linalg.svd(centered, full_matrices=False)[2][0]
    return centered @ (top * np.sign(top[np.abs(top).argmax()]))


def two_means(scores: np.ndarray) -> np.ndarray:
    """The labels (B,) of the two clusters of numbers (B,) with the least squared deviations from their means.

    The smaller cluster is 1.0, that of the larger numbers where sizes are equal; equal numbers are all 0.0. In one
    dimension clusters are intervals, so that all B - 1 splits of the sorted numbers can be tried.
    """
    values = np.asarray(scores, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    x = values[order] - values.mean()
    x /= np.abs(x).max(initial=0) or 1  # squares cannot vanish
    left = np.arange(1, len(x))
    right = len(x) - left
    between = (np.cumsum(x)[:-1] / left - np.cumsum(x[::-1])[-2::-1] / right) ** 2 * left * right
    between[np.diff(x) <= 0] = -1  # no boundary between equal numbers
    if between.max(initial=-1) < 0:
        return np.zeros(len(x))
    size = left[between.argmax()]
    labels = np.zeros(len(x))
    labels[order[:size] if size < len(x) - size else order[size:]] = 1
    return labels
