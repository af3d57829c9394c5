"""What an audit needs of a score of coins: how many it guesses, of shares fixed beforehand, and what pairs may add."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

SHARES = {"coins_guessed": 1.0, "coins_guessed_half": 0.5, "coins_guessed_few": 0.02}  # metric -> share that is guessed


def guessed(score: np.ndarray, coins: np.ndarray) -> dict[str, float]:
    """Shares of right guesses of coins (m,).

    Guessed are the coins whose scores rank farthest from the middle: 1 above it, else 0. A NaN ranks in the middle.
    """
    ranks, scored = np.zeros(len(coins)), ~np.isnan(score)
    ranks[scored] = rankdata(score[scored]) - (scored.sum() + 1) / 2
    right = ((ranks > 0) == (coins == 1))[np.argsort(-np.abs(ranks), kind="stable")]
    return {name: float(right[: guesses(len(coins), share)].mean()) for name, share in SHARES.items()}


def guesses(coins: int, share: float) -> int:
    """How many of so many coins are guessed."""
    return max(1, round(share * coins))


def slack(coins: int) -> dict[str, float]:
    """By how much the mean AUC of so many fair coins may exceed a bound on that of one, at most.

    A share 1 / n of the pairs of n coins is of a coin with itself, and what one run tells of several coins at once adds
    at most what these pairs lack: an AUC a is at least a (1 - 1 / n) of a single coin (docs/audit.md).
    """
    return {"coin_slack": 1 / coins}
