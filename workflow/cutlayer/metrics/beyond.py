"""Leak beyond features: AUCs among rows whose features predict the same, and the largest AUC of features and releases.

A label that features predict is found without a single release. With p_i the chance of label 1 given row i's features,
a pair of a positive i and a negative j counts by the chance that it had been the other way round,

    w_ij = p_j (1 - p_i) / (p_i (1 - p_j) + p_j (1 - p_i)).

Every score that is a function of the features then has an expected AUC of 1/2, as an unordered pair that is (1, 0) with
chance r adds r (1 - r) to both sides. It is an estimate: what a model of p misses in the features counts as leak.

Ours. The weights are the overlap weights of Li, Morgan, Zaslavsky, "Balancing Covariates via Propensity Score
Weighting", for pairs; the adjusted AUC is in the spirit of Janes, Pepe, "Adjusting for Covariate Effects on
Classification Accuracy Using the Covariate-Adjusted ROC Curve".
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import logit
from scipy.stats import norm

MOST_ERROR = 0.025  # standard error of the self-test, above which it tells too little
NORMAL = 1.96


def adjusted_auc(score: np.ndarray, label: np.ndarray, prior: np.ndarray) -> tuple[float, float] | None:
    """The AUC of a score (n,) among rows with the same prospects, and its standard error; None if a class is missing.

    `label` (n,) is 0 or 1, `prior` (n,) the chance of label 1 given the features, between 0 and 1, exclusive. Ties, and
    rows whose score is NaN, count half.
    """
    positive = np.asarray(label) == 1
    if positive.all() or not positive.any():
        return None
    score, odds = np.asarray(score, dtype=np.float64), logit(np.asarray(prior, dtype=np.float64))
    with np.errstate(invalid="ignore"):  # of two infinities
        ahead = np.nan_to_num(np.sign(score[positive, None] - score[~positive]))
    weight = 1 / (1 + np.exp(_apart(odds, positive)))
    weight /= weight.sum()
    auc = float((weight * (1 + ahead)).sum() / 2)
    apart = weight * ((1 + ahead) / 2 - auc)
    squares = np.square(apart.sum(axis=0)).sum() + np.square(apart.sum(axis=1)).sum()
    return auc, float(np.sqrt(squares))


def features_suffice(auc: float, error: float) -> bool:
    """Whether the prior's own adjusted AUC fails the self-test, as features predict (nearly) all: rows with the same
    prospects and other labels are too few, or the model is off.
    """
    return abs(auc - 0.5) > NORMAL * error or error > MOST_ERROR


def best_auc(bound: float, label: np.ndarray, prior: np.ndarray, drawn_once: bool) -> float:
    """The largest expected AUC of features and releases, under a `bound` on the AUC between two labels of a row.

    It is that of the sum of the prior's and the releases' log-odds, for draws that are independent between rows: of
    randomized response if labels are `drawn_once`, of two classes, else of a Gaussian mechanism. The label (n,) needs
    both classes.
    """
    if bound == 1:
        return 1.0
    positive = np.asarray(label) == 1
    apart = _apart(logit(np.asarray(prior, dtype=np.float64)), positive)
    if not drawn_once:
        mu = math.sqrt(2) * float(norm.ppf(bound))
        return float(norm.cdf((apart + mu**2) / (mu * math.sqrt(2))).mean()) if mu > 0 else _above(apart)
    kept, both = bound, 2 * float(logit(bound))
    return (
        kept**2 * _above(apart + both) + 2 * kept * (1 - kept) * _above(apart) + (1 - kept) ** 2 * _above(apart - both)
    )


def _apart(odds: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Differences (n1, n0) of the log-odds of each positive and each negative."""
    return np.asarray(odds[positive, None] - odds[~positive])


def _above(apart: np.ndarray) -> float:
    """The share of pairs above 0; a tie counts half."""
    return float((1 + np.sign(apart)).mean() / 2)
