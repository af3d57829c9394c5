"""clusters: recovers secdt's fake classes by clustering gradient directions; small clusters belong to the rarer class.

Normalized gradients are clustered by K-means into as many clusters as the label party trains on, a number that an
adaptive adversary knows. secdt assigns equally many fake classes to each class and keeps them for the whole training,
so that those of a rarer class have fewer rows each: the smaller the cluster, the more likely positive.

Ours, against Jiang et al., "Training on Fake Labels: Mitigating Label Leakage in Split Learning via Secure Dimension
Transformation". It needs classes of different sizes; `clusters_watched` does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.split.attack import Attack

from ._directions import directions
from ._groups import groups


@dataclass(frozen=True)
class Clusters(Attack):
    """Scores each row by minus the log size of its cluster, with `starts` restarts of K-means."""

    knows: ClassVar[str] = "how many classes are trained on, which secdt keeps secret"
    sees: ClassVar[set[str]] = {"gradients", "outputs"}
    classes: ClassVar[set[int]] = {2}
    limits: ClassVar[Limits] = {"starts": (1, None)}
    cheap: ClassVar[bool] = True

    starts: int = 4

    def infer(self, view: View) -> np.ndarray:
        """Scores (B,) of the examples."""
        return score(view.gradients, int(view.outputs), self.starts, int(view.rng.integers(2**31)))


def score(gradients: np.ndarray, k: int, starts: int = 4, seed: int = 0) -> np.ndarray:
    """Minus the log size (B,) of each row's cluster, of `k` K-means clusters of the directions of gradients (B, d)."""
    found = groups(directions(gradients), k, starts, seed)
    return -np.log(np.bincount(found)[found])
