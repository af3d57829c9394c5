"""Per-record vulnerability: how exposed each record is to an attack, over several trainings."""

from __future__ import annotations

import math

import numpy as np

from .leakage import ROUNDING


def exposure(score: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Exposure (P,) of each positive: the share of negatives that its score exceeds; ties count half.

    `score` (W,) and `label` (W,) are of one training, with both labels.
    """
    others = np.sort(score[label == 0])
    own = score[label == 1]
    below = np.searchsorted(others, own, "left") + np.searchsorted(others, own, "right")
    return np.asarray(below / (2 * len(others)))


def found_at_rate(score: np.ndarray, label: np.ndarray, false: float = 0.01) -> np.ndarray:
    """Whether each positive (P,) is found at this false positive rate.

    Their mean is the true positive rate, `leakage.true_positives`.
    """
    others = np.sort(score[label == 0])[::-1]
    return np.asarray(score[label == 1] > others[math.floor(false * len(others) + ROUNDING)])


def most_exposed(exposures: np.ndarray, count: int) -> np.ndarray:
    """The `count` most vulnerable records (S, count) for each training, by mean exposure (S, P) in all others.

    They are selected on other trainings than they are evaluated on, as a maximum over many records is biased upwards.
    Aerni, Zhang, Tramer, "Evaluations of Machine Learning Privacy Defenses are Misleading".
    """
    elsewhere = exposures.sum(axis=0) - exposures
    return np.argsort(-elsewhere, axis=1, kind="stable")[:, :count]
