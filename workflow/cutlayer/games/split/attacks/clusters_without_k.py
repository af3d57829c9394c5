"""clusters_without_k: the cluster-size attack on fake classes by an adversary who does not know their number.

The directions of a batch's gradients are merged one by one (average linkage); the merging stops before the distance at
which clusters merge grows by the largest factor, among the steps that leave 2 to `most` clusters. As in `clusters`, the
smaller the cluster, the more likely positive.

Ours, against Jiang et al., "Training on Fake Labels: Mitigating Label Leakage in Split Learning via Secure Dimension
Transformation", who keep the number of fake classes secret.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.split.attack import Attack

from ._directions import directions


@dataclass(frozen=True)
class ClustersWithoutK(Attack):
    """Scores each row by minus the log size of its cluster; the gap between merges decides the number of clusters."""

    knows: ClassVar[str] = "that classes have fake classes in equal numbers"
    sees: ClassVar[set[str]] = {"gradients"}
    classes: ClassVar[set[int]] = {2}
    limits: ClassVar[Limits] = {"most": (2, None)}
    cheap: ClassVar[bool] = True

    most: int = 40

    def infer(self, view: View) -> np.ndarray:
        """Scores (B,) of the examples."""
        found = groups(directions(view.gradients), self.most)
        return -np.log(np.bincount(found)[found])


def groups(points: np.ndarray, most: int) -> np.ndarray:
    """Average-linkage cluster labels (B,) of points (B, d): 2 to `most` clusters; one if there are < 3 points."""
    if len(points) < 3:
        return np.zeros(len(points), dtype=int)
    merged = linkage(points, "average")
    numbers = np.arange(2, min(most, len(points) - 1) + 1)
    heights = merged[len(points) - 1 - np.arange(1, numbers[-1] + 1), 2]  # at which 2, 3, ... clusters become one less
    growth = heights[:-1] / np.maximum(heights[1:], np.finfo(float).tiny)
    return np.asarray(fcluster(merged, int(numbers[growth.argmax()]), "maxclust") - 1)
