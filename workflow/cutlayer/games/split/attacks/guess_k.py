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

from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.split.attack import Attack

from ._number_of_clusters import clusters, evenly


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
