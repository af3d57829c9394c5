"""What altered scores still say of the passive features: recovered scores, intervals, and the most likely point."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from scipy.optimize import lsq_linear

from cutlayer.games.vertical.equations import softmax

from ._inequalities import nearest_within

SLACK = 1e-12  # rounding of scores and of their sums
LEAST = 1e-3  # noisy scores are clamped to it, or to the noise's deviation if that is less
PRECISION = 12.0  # of a feature: one over the variance of U[0, 1]
STEPS = 10  # of Gauss and Newton; fewer where they no longer descend


def rounded(scores: np.ndarray, decimals: int) -> tuple[np.ndarray, np.ndarray]:
    """Bounds (N, k) of the scores from those that `rounding` reveals."""
    half = 0.5 * 10.0**-decimals
    return np.maximum(scores - half, 0), np.minimum(scores + half, 1)


def normalized(shown: np.ndarray) -> np.ndarray:
    """What is revealed (N, k), clamped to [0, 1] and divided by its sum, for attacks that need probabilities."""
    clamped = shown.clip(0, 1)
    return np.asarray(clamped / np.maximum(clamped.sum(axis=1, keepdims=True), np.finfo(float).tiny))


def unstretched(shown: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray | None:
    """The scores (N, k) from privee's with one draw for all rows; None if the rows do not determine them.

    In ascending order u_i = (1 + s_i) c_i - 2/K, and the scores of a row sum to 1: N linear equations in 1 / (1 + s_i),
    of the rows whose order is sure. In another row those neighbors are exchanged that bring its sum nearest to 1. s has
    the bounds `low` and `high` (k,).
    """
    k, order = shown.shape[1], shown.argsort(axis=1)
    lifted = np.take_along_axis(shown, order, axis=1) + 2 / k
    doubt = _in_doubt(lifted, low, high)
    sure = ~doubt.any(axis=1)
    factors, _, rank, _ = np.linalg.lstsq(lifted[sure], np.ones(np.count_nonzero(sure)))
    if rank < k:
        return None
    found = lifted * factors
    for row in np.flatnonzero(~sure):
        every = [lifted[row] * factors[ranks] for ranks in _exchanges(k, np.flatnonzero(doubt[row]))]
        found[row] = min(every, key=lambda scores: abs(scores.sum() - 1))
    scores = np.empty_like(shown)
    np.put_along_axis(scores, order, found, axis=1)
    return scores


def stretched(shown: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bounds (N, k) of the scores from privee's, whose s_i lie between `low` and `high` (k,)."""
    k, order = shown.shape[1], shown.argsort(axis=1)
    lifted = np.maximum(np.take_along_axis(shown, order, axis=1) + 2 / k, 0)
    doubt = _in_doubt(lifted, low, high)
    least = np.where(np.pad(doubt, ((0, 0), (1, 0))), np.roll(low, 1), low)
    most = np.where(np.pad(doubt, ((0, 0), (0, 1))), np.roll(high, -1), high)
    ranks = order.argsort(axis=1)
    lower, upper = (np.take_along_axis(lifted / (1 + ends), ranks, axis=1) for ends in (most, least))
    return np.maximum(lower - SLACK, 0), np.minimum(upper + SLACK, 1)


def _in_doubt(lifted: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Whether two neighbors (N, k - 1) among the ascending values (N, k) may belong to scores in reverse order."""
    return np.asarray(lifted[:, 1:] * (1 + low[1:]) < lifted[:, :-1] * (1 + high[:-1]))


def _exchanges(k: int, places: np.ndarray) -> list[np.ndarray]:
    """The orders of k ranks in which any of the neighbors at these places and the next are exchanged."""
    orders = [np.arange(k)]
    for place in places:
        turned = np.arange(k)[[*range(place), place + 1, place, *range(place + 2, k)]]
        orders += [order[turned] for order in orders if order[place] == place]
    return orders


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

    Features are a priori around 1/2 with the variance of U[0, 1]. Steps of Gauss and Newton on |c - softmax(W x +
    known)|^2 / sd^2 + 12 |x - 1/2|^2, while they descend, from the better one of 1/2 and the generalized least squares
    solution of the logarithms. Without noise it is the solution nearest to 1/2.
    """
    starts = _log_ratios(weights, known, scores, deviation)
    guess = np.empty_like(starts)
    for row, (own, c) in enumerate(zip(known, scores, strict=True)):

        def unlikely(x: np.ndarray, own: np.ndarray = own, c: np.ndarray = c) -> float:
            misfit = np.square((c - softmax((weights @ x + own)[None])[0]) / deviation).sum()
            return float(misfit + PRECISION * np.square(x - 0.5).sum())

        x = min((starts[row], np.full(len(starts[row]), 0.5)), key=unlikely)
        for _ in range(STEPS):
            s = softmax((weights @ x + own)[None])[0]
            slope = s[:, None] * (weights - s @ weights) / deviation
            further = _nearest_to_half(slope, (c - s) / deviation + slope @ x)
            if unlikely(further) >= unlikely(x):
                break
            x = further
        guess[row] = x
    return guess


def _log_ratios(weights: np.ndarray, known: np.ndarray, scores: np.ndarray, deviation: float) -> np.ndarray:
    """Generalized least squares: ln c_p has deviation sd / c_p, and all logs of a row share an unknown constant."""
    clamped = scores.clip(min(LEAST, deviation), 1)
    shares = np.square(clamped) / np.square(clamped).sum(axis=1, keepdims=True)
    return np.stack([
        _nearest_to_half((c / deviation)[:, None] * (weights - share @ weights), c / deviation * (own - share @ own))
        for own, c, share in zip(np.log(clamped) - known, clamped, shares, strict=True)
    ])  # fmt: skip


def _nearest_to_half(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The x (d,) of the cube that minimizes |A x - b|^2 + 12 |x - 1/2|^2."""
    d, prior = A.shape[1], np.sqrt(PRECISION)
    system = np.vstack([A, prior * np.eye(d)]), np.append(b, np.full(d, prior / 2))
    return np.clip(lsq_linear(*system, bounds=(0.0, 1.0), method="bvls").x, 0, 1)
