"""drawn_and_norm: against randomized response, recovers the noisy label and ranks by gradient norm within each label.

Under randomized response a gradient is a slope times p - z, where z is the noisy label. Its sign reveals z: the unit
gradients of a record in all epochs, concatenated, lie along one axis, and the side with fewer records is that of the
noisy positives (positives are the minority, and stay so). Its norm |p - z| reveals the model's prediction: it is small
for a noisy positive that the model predicts as positive, large for a noisy negative that it predicts as positive. So
noisy positives rank first, smaller norms higher; then noisy negatives, larger norms higher. The norm is the mean over
the second half of the epochs, when the model has learned something. A record without a gradient ranks between. No
features, model or known label are used.

It recovers more than the noisy label without violating differential privacy: an AUC across records also counts what
the model learned from everyone's labels. Ours, against Ghazi et al., "Deep Learning with Label Differential Privacy".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from cutlayer.core.transcript import View
from cutlayer.games.split.attack import Attack

from ._directions import directions
from ._epochs import lacks_epochs, tracked


@dataclass(frozen=True)
class DrawnAndNorm(Attack):
    """Ranks tracked records by their recovered noisy label, then by gradient norm."""

    target: ClassVar[str] = "watched"
    knows: ClassVar[str] = "that a label is drawn once, at random"
    sees: ClassVar[set[str]] = {"watched_gradients", "watched_steps"}
    needs: ClassVar[set[str]] = {"known"}
    classes: ClassVar[set[int]] = {2}
    cheap: ClassVar[bool] = True

    epochs: Literal["all", "first"] = "all"

    def skip(self, view: View) -> str:
        """Needs tracked records."""
        return lacks_epochs(view, self.epochs)

    def infer(self, view: View) -> np.ndarray:
        """Scores (W,) of the tracked records."""
        return score(*tracked(view, self.epochs))


def score(gradients: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Scores (W,) from -1 to 1 of tracked gradients (E, W, d); records with a noisy positive label are above 0.

    `steps` (E, W) is the number of the batch, -1: none; a record without a gradient that is not 0 has the score 0.
    """
    late = slice(len(gradients) // 2, None)
    times, there = (steps[late] >= 0).sum(axis=0), np.asarray(gradients.any(axis=(0, 2)))
    lengths = np.linalg.norm(gradients[late].astype(np.float64), axis=2).sum(axis=0) / np.maximum(times, 1)
    far = np.where(times > 0, lengths / (lengths.max(initial=0) or 1), 0.5)[there]
    found = np.zeros(len(there))
    if there.any():
        found[there] = np.where(drawn(gradients[:, there]), 1 - far / 2, far / 2 - 1)
    return found


def drawn(gradients: np.ndarray) -> np.ndarray:
    """Which records (W,) have a noisy positive label, recovered from the directions of tracked gradients (E, W, d)."""
    units = np.concatenate([*directions(gradients)], axis=1)
    rows, columns = units.shape  # the first axis is found where there are fewer numbers
    if columns < rows:
        side = units @ np.linalg.eigh(units.T @ units)[1][:, -1] > 0
    else:
        side = np.linalg.eigh(units @ units.T)[1][:, -1] > 0
    return side if side.sum() <= len(side) / 2 else ~side
