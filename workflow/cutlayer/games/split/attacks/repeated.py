"""repeated: the same row comes back once an epoch, each time with fresh noise; what its gradients share is its label.

Each gradient is divided by the root mean square of its batch and taken relative to the batch's mean. Over the watched
rows, what all epochs have in common is read in one of two ways:

- `axis`: each row's gradients are averaged over the epochs, and the average is projected on the direction in which
  averages vary most. Noise of mean zero shrinks by the number of epochs, and a promise about one sending composes: of
  marvell's sumKL = s at each of E epochs, Phi(sqrt(E s / 2)) of the pairs are told apart along the axis.
- `common`: the score of which the most can be read off every epoch by a linear function of that epoch's own (MAXVAR
  canonical correlation, after a ridge): the slope at the cut, and so the axis, drifts as the model learns, and noise
  that is larger in some directions is divided out. It is the discriminant of each epoch, taught by all others.

A score's sign: at the start predictions are alike, so that the mean gradient points where the majority's do; positives
are on the other side. With `epochs: first` all this is of the first epoch, in which each row is sent once, so that
nothing is averaged. With `features` the adversary also predicts the score from its own features (kernel ridge, out
of fold) and adds the two, each weighted by how far it can be trusted: what half of the epochs says of the other half
tells how much of the score is signal, and its correlation with the prediction tells the same of that.

Ours. The canonical correlation of several sets is Kettenring, "Canonical Analysis of Several Sets of Variables".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.split.attack import Attack

from ._epochs import followed, lacks_epochs
from ._own_features import numbers, predicted


@dataclass(frozen=True)
class Repeated(Attack):
    """A score of each watched row from all that came back for it."""

    target: ClassVar[str] = "watched"
    sees: ClassVar[set[str]] = {
        "watched_gradients", "watched_steps", "batch_means", "batch_squares", "watched_features", "architecture",
    }  # fmt: skip
    needs: ClassVar[set[str]] = {"known"}
    classes: ClassVar[set[int]] = {2}
    limits: ClassVar[Limits] = {"ridge": (1e-9, None)}
    cheap: ClassVar[bool] = True

    form: Literal["axis", "common"] = "axis"
    features: bool = False
    epochs: Literal["all", "first"] = "all"
    ridge: float = 0.1  # of `common`: relative to the mean variance of the epoch's principal directions

    def skip(self, view: View) -> str:
        """Rows have to come back."""
        return lacks_epochs(view, self.epochs)

    def infer(self, view: View) -> np.ndarray:
        """(W,) scores."""
        gradients, steps = followed(view, self.epochs)
        rows = relative(gradients, steps, view.batch_means, view.batch_squares)
        scored = axis(rows) if self.form == "axis" else common(rows, self.ridge)
        scored = scored * majority_sign(rows, scored, view.batch_means, steps)
        if not self.features:
            return scored
        guessed = predicted(numbers(view.watched_features, view.architecture), scored)
        return joined(scored, guessed, trust(rows, scored))


def relative(gradients: np.ndarray, steps: np.ndarray, means: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Gradients (E, W, d), in units of their batch's root mean square, less the batch's mean; 0 where there is none.

    `steps` (E, W) is the batch, -1: none; batches have the mean gradients (T, d) and mean squares (T,).
    """
    unit = np.sqrt(squares)[:, None]
    centers = means / np.where(unit > 0, unit, 1)
    return np.where((steps >= 0)[:, :, None], gradients.astype(np.float64) - centers[steps], 0)


def axis(rows: np.ndarray) -> np.ndarray:
    """Sums over epochs (W,) of rows (E, W, d), along the direction in which these sums vary most."""
    total = rows.sum(axis=0)
    centered = total - total.mean(axis=0)
    return centered @ np.linalg.svd(centered, full_matrices=False)[2][0]


def common(rows: np.ndarray, ridge: float) -> np.ndarray:
    """The score (W,) of length 1 whose ridge regressions on each epoch of rows (E, W, d) explain most of it in all.

    Of rows that are all alike it is 0.
    """
    parts = []
    for own in rows - rows.mean(axis=1, keepdims=True):
        basis, s, _ = np.linalg.svd(own, full_matrices=False)
        penalty = ridge * np.square(s).mean()
        parts.append(basis * (s / np.sqrt(np.square(s) + penalty) if penalty else 0))
    scores, explained, _ = np.linalg.svd(np.concatenate(parts, axis=1), full_matrices=False)
    return scores[:, 0] * (explained[0] > 0)


def majority_sign(rows: np.ndarray, scored: np.ndarray, means: np.ndarray, steps: np.ndarray) -> float:
    """1 or -1: what makes scores (W,) lower on the side to which the first half epoch's mean gradient points."""
    first = means[: max(1, (int(steps[0].max()) + 1) // 2)].sum(axis=0)
    along = rows.sum(axis=0) @ first
    return -1.0 if scored @ (along - along.mean()) > 0 else 1.0


def trust(rows: np.ndarray, scored: np.ndarray) -> float:
    """The share of the scores' (W,) variance that is no noise, from how the two halves of the epochs agree on it."""
    total = rows.sum(axis=0)
    direction = (scored - scored.mean()) @ total
    halves = [some.sum(axis=0) @ direction for some in (rows[::2], rows[1::2])]
    both = np.cov(halves)
    whole = both.sum()
    return float(np.clip(4 * both[0, 1] / whole, 0.01, 0.98)) if whole > 0 else 0.01


def joined(scored: np.ndarray, guessed: np.ndarray, share: float) -> np.ndarray:
    """The sum (W,) of two scores whose errors are independent, weighted by their signal over their noise.

    `share` of the first one's variance is signal; their correlation is the root of the product of both shares. Of it
    two standard errors are taken off, so that a prediction that chance could have brought counts for nothing.
    """
    first, second = (_standard(scores) for scores in (scored, guessed))
    a = np.sqrt(share)
    b = float(np.clip(((first @ second) / len(first) - 2 / np.sqrt(len(first))) / a, 0, 0.98))
    return a / (1 - a * a) * first + b / (1 - b * b) * second


def _standard(scores: np.ndarray) -> np.ndarray:
    deviation = scores.std()
    return (scores - scores.mean()) / (deviation if deviation > 0 else 1)
