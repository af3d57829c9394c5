"""Which rows are told, not how many: what an attack's score says of single rows in several trainings."""

from __future__ import annotations

import math

import numpy as np

from .leakage import ROUNDING


def exposure(score: np.ndarray, label: np.ndarray) -> np.ndarray:
    """(P,): of each row of label 1 the share of the rows of label 0 that its score is above; equal ones count half.

    `score` (W,) and `label` (W,) of one training; both labels are there.
    """
    others = np.sort(score[label == 0])
    own = score[label == 1]
    below = np.searchsorted(others, own, "left") + np.searchsorted(others, own, "right")
    return np.asarray(below / (2 * len(others)))


def found_at_rate(score: np.ndarray, label: np.ndarray, false: float = 0.01) -> np.ndarray:
    """(P,): whether each row of label 1 is above a threshold that at most this share of label 0 is above.

    Their mean is `leakage.true_positives`.
    """
    others = np.sort(score[label == 0])[::-1]
    return np.asarray(score[label == 1] > others[math.floor(false * len(others) + ROUNDING)])


def most_exposed(exposures: np.ndarray, count: int) -> np.ndarray:
    """(S, count): for each training the `count` rows that are most exposed (S, P) in all others, by their mean.

    They are chosen elsewhere than they are looked for, for the largest of many numbers is partly luck. Aerni, Zhang,
    Tramer, "Evaluations of Machine Learning Privacy Defenses are Misleading".
    """
    elsewhere = exposures.sum(axis=0) - exposures
    return np.argsort(-elsewhere, axis=1, kind="stable")[:, :count]
