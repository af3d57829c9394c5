"""guess_k_twice: guess_k in the range that the paper tries, 2 to 2K clusters, whose end reveals K.

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
class GuessKTwice(Attack):
    """The number of clusters with the best Calinski-Harabasz score, with `starts` restarts of K-means for each."""

    knows: ClassVar[str] = "twice the number of classes that are trained on, where its range ends"
    target: ClassVar[str] = "dimension"
    sees: ClassVar[set[str]] = {"gradients", "outputs"}
    limits: ClassVar[Limits] = {"starts": (1, None), "batches": (0, None)}

    starts: int = 3
    batches: int = 0  # that are tried, evenly spaced, the last one too; 0: all

    def chosen(self, cases: Sequence[Any]) -> Sequence[Any]:
        """`batches` evenly spaced batches of the training, the last one included."""
        return evenly(cases, self.batches)

    def infer(self, view: View) -> np.ndarray:
        """The number of classes, of shape ()."""
        return np.array(clusters(view.gradients, 2 * int(view.outputs), self.starts, view.rng))
