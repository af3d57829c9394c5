"""repeated: combines the gradients of each tracked record over all epochs, so that the noise of each averages out.

Each gradient is divided by the root mean square of its batch and taken relative to the batch's mean. Over the tracked
records, the signal that all epochs share is estimated in one of three ways:

- `axis`: each record's gradients are averaged over the epochs, and the average is projected on its first principal
  axis. Noise of mean zero averages out, and a bound on one release composes: with marvell's sumKL = s at each of E
  epochs, a share Phi(sqrt(E s / 2)) of the pairs is ranked correctly along the axis.
- `common`: the score that linear functions of each epoch's gradients explain best (MAXVAR canonical correlation, with
  ridge): the slope at the cut, and so the axis, drifts as the model learns, and noise that is larger in some directions
  is whitened. It is the discriminant of each epoch, learned from all others.
- `mean`: the axis is that of the mean over all batches of what was released, not of the records alone: noise of mean
  zero is nearly gone from it, and as long as the predictions are not what the labels are on average it points along the
  slope at the cut. Each direction counts the less, the more the records' gradients vary along it.

With `turned` the scores are split at the largest gap of their middle 80%, and the order within each group is reversed:
a score goes with the drawn label less what the model predicts, so that among rows of one drawn label it is the lower,
the more likely features make the positive class.

A score's sign, but for `mean`, whose axis has one: at the start predictions are alike, so that the mean gradient
points where the majority's do; positives are on the other side. With `epochs: first` all this uses the first epoch
alone, with one release of each record, so that nothing is averaged. With `features` the adversary also predicts the
score from its own features (kernel ridge, leave-one-out) and adds the two, weighted by their estimated
signal-to-noise ratios: the agreement of the two halves of the epochs estimates that of the score, and the correlation
with the score that of the prediction.

Ours. The canonical correlation of several sets is Kettenring, "Canonical Analysis of Several Sets of Variables".
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.split.attack import Attack

from ._epochs import lacks_epochs, tracked
from ._own_features import numbers, predicted

KEPT = 8  # scores of `common`: one for each setting of a run, with which attacks take turns


@dataclass(frozen=True)
class Repeated(Attack):
    """Scores each tracked record by its gradients of all epochs."""

    target: ClassVar[str] = "watched"
    sees: ClassVar[set[str]] = {
        "watched_gradients", "watched_steps", "batch_means", "batch_squares", "watched_features", "architecture",
    }  # fmt: skip
    needs: ClassVar[set[str]] = {"known"}
    classes: ClassVar[set[int]] = {2}
    limits: ClassVar[Limits] = {"ridge": (1e-9, None)}
    cheap: ClassVar[bool] = True

    form: Literal["axis", "common", "mean"] = "axis"
    turned: bool = False
    features: bool = False
    epochs: Literal["all", "first"] = "all"
    ridge: float = 0.1  # of `common`: relative to the mean variance of the epoch's principal directions

    def skip(self, view: View) -> str:
        """Needs tracked records with a release in each of several epochs."""
        return lacks_epochs(view, self.epochs)

    def infer(self, view: View) -> np.ndarray:
        """Scores (W,) of the tracked records."""
        gradients, steps = tracked(view, self.epochs)
        rows = relative(gradients, steps, view.batch_means, view.batch_squares)
        scored = self._scored(rows, view, steps)
        scored = turned(scored) if self.turned else scored
        if not self.features:
            return scored
        guessed = predicted(numbers(view.watched_features, view.architecture), scored)
        return joined(scored, guessed, trust(rows, scored))

    def _scored(self, rows: np.ndarray, view: View, steps: np.ndarray) -> np.ndarray:
        """Scores (W,) of the records' relative gradients (E, W, d)."""
        if self.form == "mean":
            return along_mean(rows, view.batch_means, view.batch_squares)
        scored = axis(rows) if self.form == "axis" else common(rows, self.ridge)
        return scored * majority_sign(rows, scored, view.batch_means, steps)


def relative(gradients: np.ndarray, steps: np.ndarray, means: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Gradients (E, W, d) centered by their batch's mean, in units of its root mean square; 0 where there is none.

    `steps` (E, W) is the number of the batch, -1: none; `means` (T, d) and `squares` (T,) are those of the batches.
    """
    return np.where((steps >= 0)[:, :, None], gradients.astype(np.float64) - _in_units(means, squares)[steps], 0)


def _in_units(means: np.ndarray, squares: np.ndarray) -> np.ndarray:
    unit = np.sqrt(squares)[:, None]
    return means / np.where(unit > 0, unit, 1)


def axis(rows: np.ndarray) -> np.ndarray:
    """Projections (W,) of the sums over epochs of gradients (E, W, d) on the first principal axis of these sums."""
    total = rows.sum(axis=0)
    centered = total - total.mean(axis=0)
    return centered @ np.linalg.svd(centered, full_matrices=False)[2][0]


def along_mean(rows: np.ndarray, means: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Projections (W,) of the sums over epochs of gradients (E, W, d) against the mean of all batches' means (T, d).

    Means are divided by the root of each batch's mean square, `squares` (T,). A coordinate is divided by the variance
    of the gradients along it.
    """
    mean, variance = _in_units(means, squares).mean(axis=0), rows.var(axis=(0, 1))
    return -rows.sum(axis=0) @ (mean / np.where(variance > 0, variance, 1))


def common(rows: np.ndarray, ridge: float) -> np.ndarray:
    """The score (W,) of norm 1 that ridge regressions on each epoch of gradients (E, W, d) explain best in total.

    It is 0 if all rows are equal.
    """
    return _common(rows.tobytes(), rows.shape, ridge)


@functools.lru_cache(KEPT)
def _common(content: bytes, shape: tuple[int, ...], ridge: float) -> np.ndarray:
    """`common` for the bytes of rows (E, W, d): seconds where there are many epochs, and several attacks turn it."""
    rows, parts = np.frombuffer(content).reshape(shape), []
    for own in rows - rows.mean(axis=1, keepdims=True):
        basis, s, _ = np.linalg.svd(own, full_matrices=False)
        penalty = ridge * np.square(s).mean()
        parts.append(basis * (s / np.sqrt(np.square(s) + penalty) if penalty else 0))
    scores, explained, _ = np.linalg.svd(np.concatenate(parts, axis=1), full_matrices=False)
    return scores[:, 0] * (explained[0] > 0)


def turned(scored: np.ndarray) -> np.ndarray:
    """Scores (W,) with the order on either side of the largest gap of their middle 80% reversed."""
    middle = np.sort(scored)[len(scored) // 10 : len(scored) - len(scored) // 10]
    upper, found = scored > middle[np.diff(middle).argmax()], scored.copy()
    for side in (upper, ~upper) if upper.any() else ():
        found[side] = scored[side].max() + scored[side].min() - scored[side]
    return found


def majority_sign(rows: np.ndarray, scored: np.ndarray, means: np.ndarray, steps: np.ndarray) -> float:
    """The sign that makes scores (W,) lower on the majority's side: that of the first half epoch's mean gradient."""
    first = means[: max(1, (int(steps[0].max()) + 1) // 2)].sum(axis=0)
    along = rows.sum(axis=0) @ first
    return -1.0 if scored @ (along - along.mean()) > 0 else 1.0


def trust(rows: np.ndarray, scored: np.ndarray) -> float:
    """The share of signal in the variance of scores (W,), estimated by the agreement of two halves of the epochs."""
    total = rows.sum(axis=0)
    direction = (scored - scored.mean()) @ total
    halves = [some.sum(axis=0) @ direction for some in (rows[::2], rows[1::2])]
    both = np.cov(halves)
    whole = both.sum()
    return float(np.clip(4 * both[0, 1] / whole, 0.01, 0.98)) if whole > 0 else 0.01


def joined(scored: np.ndarray, guessed: np.ndarray, share: float) -> np.ndarray:
    """The sum (W,) of two scores with independent errors, weighted by their signal-to-noise ratios.

    `share` of the first one's variance is signal; their correlation is the root of the product of both shares. Two
    standard errors are subtracted from it, so that a prediction that is no better than chance has no weight.
    """
    first, second = (_standard(scores) for scores in (scored, guessed))
    a = np.sqrt(share)
    b = float(np.clip(((first @ second) / len(first) - 2 / np.sqrt(len(first))) / a, 0, 0.98))
    return a / (1 - a * a) * first + b / (1 - b * b) * second


def _standard(scores: np.ndarray) -> np.ndarray:
    deviation = scores.std()
    return (scores - scores.mean()) / (deviation if deviation > 0 else 1)
