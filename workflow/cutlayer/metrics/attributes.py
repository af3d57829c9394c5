"""Metrics of attribute inference: accuracy, balanced accuracy and AUC of scores for the values of an attribute.

The rows need not have all values: among few rows a rare one is missing. Each metric documents how it treats them.
"""

from __future__ import annotations

import numpy as np

from cutlayer.core.errors import InputError

from .leakage import auc_shares


def accuracy(scores: np.ndarray, truth: np.ndarray) -> float:
    """Accuracy of scores (n, values) for the true values (n,).

    A value that no row has can be predicted, and is then wrong. Of equal scores the first value's counts.
    """
    _check(scores, truth)
    return float((scores.argmax(axis=1) == truth).mean())


def balanced_accuracy(scores: np.ndarray, truth: np.ndarray) -> float:
    """Balanced accuracy: mean recall over the values that some row has."""
    _check(scores, truth)
    right = scores.argmax(axis=1) == truth
    return float(np.mean([right[truth == value].mean() for value in np.unique(truth)]))


def auc(scores: np.ndarray, truth: np.ndarray) -> float:
    """AUC of the second value's score for two values; for more the mean one-vs-rest AUC.

    Ties count half. Values that no row has are left out of the mean. Where all rows have one value, the AUC is 1/2.
    """
    _check(scores, truth)
    values = _ranked(scores, truth)
    return float(np.mean([_area(scores[:, value], truth == value) for value in values])) if len(values) else 0.5


def auc_error(scores: np.ndarray, truth: np.ndarray) -> float | None:
    """Standard error of `auc` over rows (DeLong); None where a value has a single row, or all have one value.

    The AUCs of several values are on the same rows, so that a row's contributions to them are added up.
    """
    shares = [auc_shares(scores[:, value].astype(np.float64), truth == value) for value in _ranked(scores, truth)]
    known = [share for share in shares if share is not None]
    return float(np.sqrt(np.square(np.mean(known, axis=0)).sum())) if shares and len(known) == len(shares) else None


def _ranked(scores: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The values whose one-vs-rest AUC is averaged; none where all rows have the same value."""
    values = np.unique(truth)
    return values[1:] if scores.shape[1] == 2 or len(values) < 2 else values


def _area(score: np.ndarray, own: np.ndarray) -> float:
    """Area under the ROC curve of a score (n,) as a predictor of `own` (n,); ties count half.

    It equals scikit-learn's `auc(*roc_curve(own, score)[:2])` to the last bit, which spends most of its time on checks
    of its arguments, and an attack is scored after every epoch, for every value.
    """
    order = np.argsort(-score, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(score[order])), len(score) - 1)  # the last of each group of equal scores
    right = np.cumsum(own[order], dtype=float)[ends]
    wrong = 1 + ends - right
    if len(ends) > 2:  # without points between corners
        corners = np.concatenate([[True], (np.diff(wrong, 2) != 0) | (np.diff(right, 2) != 0), [True]])
        right, wrong = right[corners], wrong[corners]
    right, wrong = (np.insert(count, 0, 0.0) / count[-1] for count in (right, wrong))
    return float(np.trapezoid(right, wrong))


def majority(truth: np.ndarray) -> float:
    """Share of the most common value: the accuracy of the majority-class baseline."""
    if not len(truth):
        raise InputError("metric.attributes", "there are no rows", "at least one is needed")
    return float(np.unique(truth, return_counts=True)[1].max() / len(truth))


def attribute_leak(guess: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """All leakage metrics of scores (n, values), or of those of several epochs (E, n, values).

    Of several epochs the last counts; `_max` is the best one, which an adversary could only select with the truth.
    """
    epochs = guess if guess.ndim == 3 else guess[None]
    if not len(epochs):
        raise InputError("metric.attributes", "there are no epochs", "at least one is needed")
    measured = {
        f"attack_{metric.__name__}": [metric(scores, truth) for scores in epochs]
        for metric in (accuracy, balanced_accuracy, auc)
    }
    found = {name: values[-1] for name, values in measured.items()}
    if guess.ndim == 3:
        found |= {f"{name}_max": max(values) for name, values in measured.items()}
    error = auc_error(epochs[-1], truth)
    known = {} if error is None else {"attack_auc_error": error}
    return found | known | {"majority": majority(truth), "rows": float(len(truth))}


def _check(scores: np.ndarray, truth: np.ndarray) -> None:
    """Raise unless scores (n, values) are finite and there is one for each true value (n,)."""
    where = "metric.attributes"
    if scores.ndim != 2 or truth.ndim != 1 or len(scores) != len(truth) or not len(truth):
        shapes = f"the shapes are {scores.shape} and {truth.shape}"
        raise InputError(where, shapes, "a row of scores and one value for each of some rows")
    if not np.isfinite(scores).all():
        raise InputError(where, "a score is not finite", "every row needs a number for each value")
    if not np.isin(truth, np.arange(scores.shape[1])).all():
        raise InputError(where, "a row has a value without a score", f"expected 0 to {scores.shape[1] - 1}")
