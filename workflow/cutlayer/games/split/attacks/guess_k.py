"""guess_k: infers how many classes the label party trains on from the number of clusters of the gradients.

K-means with 2, 3, ... up to `most` clusters on a batch's gradients; the guess is the number with the highest
Calinski-Harabasz score. The paper tries 2 to 2K, a range that reveals K (guess_k_twice); this adversary does not know
it, so that `most` is its own choice. At most one fewer than the distinct gradients are tried; the guess is 2 if fewer
than three are distinct.

Jiang et al., "Training on Fake Labels: Mitigating Label Leakage in Split Learning via Secure Dimension
Transformation", appendix C.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.cluster import KMeans

from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.split.attack import Attack


@dataclass(frozen=True)
class GuessK(Attack):
    """The number of clusters with the best Calinski-Harabasz score, with `starts` restarts of K-means for each."""

    target: ClassVar[str] = "dimension"
    sees: ClassVar[set[str]] = {"gradients"}
    limits: ClassVar[Limits] = {"most": (2, None), "starts": (1, None), "batches": (0, None)}

    most: int = 40
    starts: int = 3
    batches: int = 0  # that are tried, evenly spaced, the last one too; 0: all

    def chosen(self, cases: Sequence[Any]) -> Sequence[Any]:
        """`batches` evenly spaced batches of the training, the last one included."""
        return evenly(cases, self.batches)

    def infer(self, view: View) -> np.ndarray:
        """The number of classes, of shape ()."""
        return np.array(clusters(view.gradients, self.most, self.starts, view.rng))


def evenly(cases: Sequence[Any], batches: int) -> Sequence[Any]:
    """So many evenly spaced cases, the last one included; all for 0."""
    wanted = min(batches or len(cases), len(cases))
    return [cases[(i + 1) * len(cases) // wanted - 1] for i in range(wanted)]


def clusters(points: np.ndarray, most: int, starts: int, rng: np.random.Generator) -> int:
    """The number from 2 to `most` of clusters of the points (B, d) with the highest Calinski-Harabasz score."""
    X = np.asarray(points, dtype=np.float64)
    numbers = np.arange(2, min(most, len(np.unique(X, axis=0)) - 1) + 1)
    if not len(numbers):
        return 2
    scores, total = [], np.square(X - X.mean(axis=0)).sum()
    for n in numbers:
        found = KMeans(n, n_init=starts, random_state=int(rng.integers(2**31))).fit(X)
        scores.append((total / found.inertia_ - 1) * (len(X) - n) / (n - 1))
    return int(numbers[np.argmax(scores)])
