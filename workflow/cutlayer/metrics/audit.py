"""What an audit needs of a score of coins: how many it guesses, of shares fixed beforehand, and what pairs may add."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

SHARES = {"coins_guessed": 1.0, "coins_guessed_half": 0.5, "coins_guessed_few": 0.02}  # metric -> share that is guessed


def of_scores(score: np.ndarray, coins: np.ndarray) -> dict[str, float]:
    """Shares of right guesses of coins (m,), and `coin_slack`, by which the mean AUC of fair coins may exceed a bound.

    Guessed are the coins whose scores rank farthest from the middle: 1 above it, else 0. A NaN ranks in the middle.
    """
    ranks, middle = np.full(len(coins), 0.0), ~np.isnan(score)
    ranks[middle] = rankdata(score[middle]) - (middle.sum() + 1) / 2
    right = ((ranks > 0) == (coins == 1))[np.argsort(-np.abs(ranks), kind="stable")]
    shares = {name: float(right[: guesses(len(coins), share)].mean()) for name, share in SHARES.items()}
    return shares | {"coin_slack": 1 / (2 * (len(coins) - 1))}


def guesses(coins: int, share: float) -> int:
    """How many of so many coins are guessed."""
    return max(1, round(share * coins))
