"""Leakage of a binary label by an attack's score: AUC, true positive rate, and their errors."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from cutlayer.core.errors import InputError

ROUNDING = 1e-9  # of a number of rows


def leak_auc(score: ArrayLike, label: ArrayLike) -> float | None:
    """AUC of a score as a predictor of the label 1 (of 0 and 1); ties count half; None when a class is missing.

    Scores may be infinite; a NaN, another label or arrays of different lengths are an InputError.
    """
    checked = _checked(score, label)
    if checked is None:
        return None
    scores, positive = checked
    ones = int(positive.sum())
    above = rankdata(scores)[positive].sum() - ones * (ones + 1) / 2
    return float(above / (ones * (len(scores) - ones)))


def tied_auc(score: ArrayLike, label: ArrayLike) -> float | None:
    """AUC of scores with NaNs: a NaN ties with every other score, as a random guess; None when a class is missing."""
    scores, labels = np.asarray(score, dtype=np.float64), np.asarray(label)
    scored = ~np.isnan(scores)
    pairs, own = (int((some == 1).sum() * (some != 1).sum()) for some in (labels, labels[scored]))
    if not pairs:
        return None
    auc = leak_auc(scores[scored], labels[scored])
    return auc if own == pairs else 0.5 if auc is None else 0.5 + (auc - 0.5) * own / pairs


def auc_error(score: ArrayLike, label: ArrayLike) -> float | None:
    """Standard error of `tied_auc` over rows (n,), by DeLong; None with fewer than two rows of either class.

    A row's component is the share of the other class's rows that it outranks, ties counting half; the error is
    sqrt(var(V1) / n1 + var(V0) / n0), V1 and V0 the components of either class.

    DeLong, DeLong, Clarke-Pearson, "Comparing the Areas under Two or More Correlated Receiver Operating Characteristic
    Curves: A Nonparametric Approach", Biometrics 44, 1988.
    """
    shares = auc_shares(np.asarray(score, dtype=np.float64), np.asarray(label) == 1)
    return None if shares is None else float(np.sqrt(np.square(shares).sum()))


def auc_shares(score: np.ndarray, positive: np.ndarray) -> np.ndarray | None:
    """Each row's contribution (n,) to an AUC's deviation; their squares sum to its variance; None as for `auc_error`.

    The contributions to several AUCs of the same rows add up to those to their sum. By ranks (Sun and Xu, "Fast
    Implementation of DeLong's Algorithm", 2014).
    """
    ahead, scored = np.full(len(score), 0.5), ~np.isnan(score)
    for own in (positive, ~positive):
        if own.sum() < 2:
            return None
    ranks = rankdata(score[scored])
    for own in (positive, ~positive):
        mine = own[scored]
        others = ranks[mine] - rankdata(score[scored][mine])  # how many of the other class it outranks
        missing = (~own).sum() - (~mine).sum()
        ahead[own & scored] = (others + missing / 2) / (~own).sum()
    found = np.empty(len(score))
    for own in (positive, ~positive):
        count = own.sum()
        found[own] = (ahead[own] - ahead[own].mean()) / np.sqrt(count * (count - 1))
    found[~positive] *= -1  # a row of label 0 that outranks others decreases the AUC
    return found


def true_positives(score: ArrayLike, label: ArrayLike, false: float = 0.01) -> float | None:
    """True positive rate at a false positive rate of at most `false`; None when a class is missing.

    Rows of equal score are on the same side of the threshold. A random score has about `false`, a constant one 0.

    Carlini, Chien, Nasr, Song, Terzis, Tramer, "Membership Inference Attacks From First Principles".
    """
    checked = _checked(score, label)
    if checked is None:
        return None
    scores, positive = checked
    others = np.sort(scores[~positive])[::-1]
    threshold = others[math.floor(false * len(others) + ROUNDING)]  # at most so many of the others are above it
    return float(np.mean(scores[positive] > threshold))


def chance_floor(positives: int, negatives: int) -> float:
    """95% quantile of |AUC - 1/2| of a random score (normal approximation), below which no leakage is detectable."""
    if positives < 1 or negatives < 1:
        raise InputError(
            "metric.chance_floor", f"{positives} positives and {negatives} negatives", "both classes are needed"
        )
    return 1.96 * math.sqrt((positives + negatives + 1) / (12 * positives * negatives))


def _checked(score: ArrayLike, label: ArrayLike) -> tuple[np.ndarray, np.ndarray] | None:
    """The checked scores and which rows are positive; None when a class is missing."""
    scores, labels = np.asarray(score, dtype=np.float64), np.asarray(label)
    if scores.ndim != 1 or scores.shape != labels.shape:
        raise InputError(
            "metric.leak_auc", f"the shapes are {scores.shape} and {labels.shape}", "one score and one label a row"
        )
    if np.isnan(scores).any():
        raise InputError("metric.leak_auc", "a score is NaN", "every example needs a number")
    positive = labels == 1
    if not (positive | (labels == 0)).all():
        raise InputError("metric.leak_auc", "a label is neither 0 nor 1", "expected two classes")
    return (scores, positive) if positive.any() and not positive.all() else None
