"""How well scores for the values of an attribute tell its true values.

Truth need not hold all values: among few rows a rare one is missing. Each metric says what becomes of it.
"""

from __future__ import annotations

import numpy as np

from cutlayer.core.errors import InputError

from .leakage import auc_shares


def accuracy(scores: np.ndarray, truth: np.ndarray) -> float:
    """Share of the rows whose highest score is that of their value: scores (n, values), truth (n,).

    A value that no row has can be guessed, and is then wrong. Of equal scores the first value's counts.
    """
    _check(scores, truth)
    return float((scores.argmax(axis=1) == truth).mean())


def balanced_accuracy(scores: np.ndarray, truth: np.ndarray) -> float:
    """Mean over the values that some row has of the share of their rows that are guessed right."""
    _check(scores, truth)
    right = scores.argmax(axis=1) == truth
    return float(np.mean([right[truth == value].mean() for value in np.unique(truth)]))


def auc(scores: np.ndarray, truth: np.ndarray) -> float:
    """AUC of the second value's score for two values; for more the mean of the AUC of each against the rest.

    Ties count half. Values that no row has are left out of the mean. Where all rows have the same value, nothing is to
    be told apart: the AUC is then 1/2.
    """
    _check(scores, truth)
    told = _told(scores, truth)
    return float(np.mean([_area(scores[:, value], truth == value) for value in told])) if len(told) else 0.5


def auc_error(scores: np.ndarray, truth: np.ndarray) -> float | None:
    """The standard error of `auc` as the rows leave it (DeLong); None where a value has a single row, or all have one.

    The AUCs of several values are of the same rows, so that what a row adds to each of them is added up.
    """
    shares = [auc_shares(scores[:, value].astype(np.float64), truth == value) for value in _told(scores, truth)]
    known = [share for share in shares if share is not None]
    return float(np.sqrt(np.square(np.mean(known, axis=0)).sum())) if shares and len(known) == len(shares) else None


def _told(scores: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The values that are told from all others; none where all rows have the same."""
    values = np.unique(truth)
    return values[1:] if scores.shape[1] == 2 or len(values) < 2 else values


def _area(score: np.ndarray, own: np.ndarray) -> float:
    """The area under the ROC curve of a score (n,) for telling its own rows (n,) from the rest; ties count half.

    It is `auc(*roc_curve(own, score)[:2])` of scikit-learn to the last bit. That one spends most of its time on looking
    at its arguments, and an attack is measured after every epoch, for every value.
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
    """Share of the most common value: what a guess without any information reaches in accuracy."""
    if not len(truth):
        raise InputError("metric.attributes", "there are no rows", "at least one is needed")
    return float(np.unique(truth, return_counts=True)[1].max() / len(truth))


def attribute_leak(guess: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """All of these for scores (n, values), or for those of several epochs (E, n, values).

    Of several epochs the last counts; `_max` is the best one, which an adversary could only pick with the truth.
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
    """Raise unless there is a row of finite scores for each row, and a score for each value."""
    where = "metric.attributes"
    if scores.ndim != 2 or truth.ndim != 1 or len(scores) != len(truth) or not len(truth):
        shapes = f"the shapes are {scores.shape} and {truth.shape}"
        raise InputError(where, shapes, "a row of scores and one value for each of some rows")
    if not np.isfinite(scores).all():
        raise InputError(where, "a score is not finite", "every row needs a number for each value")
    if not np.isin(truth, np.arange(scores.shape[1])).all():
        raise InputError(where, "a row has a value without a score", f"expected 0 to {scores.shape[1] - 1}")
