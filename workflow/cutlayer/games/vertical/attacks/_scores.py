"""What altered scores still say of the passive features: recovered scores, intervals, and the most likely point."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from scipy.optimize import lsq_linear

from cutlayer.games.vertical.defenses.privee import stretches

from ._inequalities import nearest_within

SLACK = 1e-12  # rounding of sums of scores
LEAST = 1e-3  # noisy scores are clamped to it, or to the noise's deviation if that is less
PRECISION = 12.0  # of a feature: one over the variance of U[0, 1]


def rounded(scores: np.ndarray, decimals: int) -> tuple[np.ndarray, np.ndarray]:
    """Bounds (N, k) of the scores from those that `rounding` reveals."""
    half = 0.5 * 10.0**-decimals
    return np.maximum(scores - half, 0), np.minimum(scores + half, 1)


def unstretched(shown: np.ndarray) -> np.ndarray | None:
    """The scores (N, k) from privee's with one draw for all rows; None if the rows do not determine them.

    In ascending order u_i = (1 + s_i) c_i - 2/K, and the scores of a row sum to 1: N linear equations in 1 / (1 + s_i).
    """
    k, order = shown.shape[1], shown.argsort(axis=1)
    lifted = np.take_along_axis(shown, order, axis=1) + 2 / k
    factors, _, rank, _ = np.linalg.lstsq(lifted, np.ones(len(shown)))
    if rank < k:
        return None
    scores = np.empty_like(shown)
    np.put_along_axis(scores, order, lifted * factors, axis=1)
    return scores


def stretched(shown: np.ndarray, rho: float) -> tuple[np.ndarray, np.ndarray]:
    """Bounds (N, k) of the scores from privee's, whose s_i lie in known intervals."""
    k, ranks = shown.shape[1], shown.argsort(axis=1).argsort(axis=1)
    lifted = np.maximum(shown + 2 / k, 0)
    low, high = (lifted / (1 + ends[ranks]) for ends in stretches(k, rho)[::-1])
    return np.maximum(low - SLACK, 0), np.minimum(high + SLACK, 1)


def within(weights: np.ndarray, known: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The points (N, d) of the cube nearest to 1/2 whose scores can lie between `low` and `high` (N, k).

    For two classes z_p - z_q >= ln(low_p / high_q), with bounds that are tightened by the scores' sum of 1. The truth
    satisfies all of these inequalities. `weights` is (k, d); `known` (N, k) the rest of the logits.
    """
    least = np.maximum(low, 1 - (high.sum(axis=1, keepdims=True) - high) - SLACK)
    most = np.minimum(high, 1 - (low.sum(axis=1, keepdims=True) - low) + SLACK)
    guess = np.empty((len(known), weights.shape[1]))
    for row, (own, floor, ceiling) in enumerate(zip(known, least, most, strict=True)):
        pairs = [(p, q) for p, q in permutations(range(len(weights)), 2) if floor[p] > 0]
        one, other = np.array(pairs, dtype=int).reshape(-1, 2).T
        ratios = np.log(floor[one]) - np.log(ceiling[other])
        guess[row] = nearest_within(weights[one] - weights[other], ratios - own[one] + own[other])
    return guess


def likeliest(weights: np.ndarray, known: np.ndarray, scores: np.ndarray, deviation: float) -> np.ndarray:
    """The most likely points (N, d) of the cube under Gaussian noise of this deviation on each score.

    ln c_p then has deviation sd / c_p, and all logs of a row share an unknown constant: generalized least squares, with
    features a priori around 1/2 with the variance of U[0, 1]. Without noise it is the solution nearest to 1/2.
    """
    d = weights.shape[1]
    clamped = scores.clip(min(LEAST, deviation), 1)
    shares = np.square(clamped) / np.square(clamped).sum(axis=1, keepdims=True)
    guess, prior = np.empty((len(scores), d)), np.sqrt(PRECISION)
    for row, (own, c, share) in enumerate(zip(np.log(clamped) - known, clamped, shares, strict=True)):
        A = (c / deviation)[:, None] * (weights - share @ weights)
        b = c / deviation * (own - share @ own)
        system = np.vstack([A, prior * np.eye(d)]), np.append(b, np.full(d, prior / 2))
        guess[row] = lsq_linear(*system, bounds=(0.0, 1.0), method="bvls").x
    return np.clip(guess, 0, 1)
