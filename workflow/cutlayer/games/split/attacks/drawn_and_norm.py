"""drawn_and_norm: a label that is drawn shows in a gradient's direction, and the model's own opinion in its length.

Under randomized response a gradient is a slope times p - z, z being the label as drawn. Its sign is z: the gradients of
a row in all epochs, each scaled to length 1 and put side by side, lie along one axis, and the side with fewer rows is
that of the drawn positives (positives are the minority, and stay so). Its length |p - z| is small for a drawn positive
that the model takes for positive, large for a drawn negative that it takes for positive. So drawn positives come first,
the shorter the gradient the higher; then drawn negatives, the longer the higher. The length is the mean over the second
half of the epochs, when the model has learned something. No features, no model and no known label are used.

It reads more than the drawn label without breaking differential privacy: across rows an AUC also counts what the model
learned of everyone's labels. Ours, against Ghazi et al., "Deep Learning with Label Differential Privacy".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from cutlayer.core.transcript import View
from cutlayer.games.split.attack import Attack

from ._directions import directions
from ._epochs import followed, lacks_epochs


@dataclass(frozen=True)
class DrawnAndNorm(Attack):
    """Sorts rows by the side that they are on, and within it by their length."""

    target: ClassVar[str] = "watched"
    knows: ClassVar[str] = "that a label is drawn once, at random"
    sees: ClassVar[set[str]] = {"watched_gradients", "watched_steps"}
    needs: ClassVar[set[str]] = {"known"}
    classes: ClassVar[set[int]] = {2}
    cheap: ClassVar[bool] = True

    epochs: Literal["all", "first"] = "all"

    def skip(self, view: View) -> str:
        """Rows have to be followed."""
        return lacks_epochs(view, self.epochs)

    def infer(self, view: View) -> np.ndarray:
        """(W,) scores."""
        return score(followed(view, self.epochs)[0])


def score(gradients: np.ndarray) -> np.ndarray:
    """Scores (W,) from -1 to 1 of rows (E, W, d); those of the smaller side are above 0."""
    lengths = np.linalg.norm(gradients[len(gradients) // 2 :].astype(np.float64), axis=2).mean(axis=0)
    far = lengths / (lengths.max(initial=0) or 1)
    return np.where(drawn(gradients), 1 - far / 2, far / 2 - 1)


def drawn(gradients: np.ndarray) -> np.ndarray:
    """Which rows (W,) are on the side of fewer, of rows (E, W, d)."""
    units = np.concatenate([*directions(gradients)], axis=1)
    rows, columns = units.shape  # the first axis is found where there are fewer numbers
    if columns < rows:
        side = units @ np.linalg.eigh(units.T @ units)[1][:, -1] > 0
    else:
        side = np.linalg.eigh(units @ units.T)[1][:, -1] > 0
    return side if side.sum() <= len(side) / 2 else ~side
