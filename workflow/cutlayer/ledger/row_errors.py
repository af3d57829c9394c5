"""Standard errors that the finite number of tested rows leaves of a value, a difference, a ratio."""

from __future__ import annotations

import math

import numpy as np

from cutlayer.metrics import declared

from .samples import fewest, known
from .sides import Pair, Side


def alone(side: Side) -> float:
    """Standard error of a side from its tested rows; a share of 0 or 1 counts as half a row away from it."""
    error, rows = known(side.error), fewest(side.rows)
    if error > 0 or rows <= 0 or side.kind not in (declared.SHARE, declared.AUC):
        return error
    share = (rows * float(np.clip(np.nanmean(side.value), 0, 1)) + 0.5) / (rows + 1)  # less a slack it may be below 0
    return math.sqrt(share * (1 - share) / rows) * (0.5 if side.kind == declared.AUC else 1.0)


def of_both(pair: Pair, difference: float) -> float:
    """Standard error of a difference from the tested rows, which are the same in all seeds and places.

    Of shares of the same rows see `_of_shares`. Of other rows the squares of both errors add; of AUCs of the same rows
    they are at most that, for how much the two have in common is not recorded. Where each seed has rows of its own, or
    what its defense drew for the labels is the right side, the scatter of paired differences has their error already,
    so that AUCs need no more than shares do.
    """
    left, right = pair.left, pair.right or pair.left
    if pair.paired and left.kind == declared.SHARE:
        return _of_shares(pair, difference)
    if pair.paired and left.kind == declared.AUC and ((left.redrawn and right.redrawn) or right.drawn):
        return _of_shares(pair, difference) / 2
    return math.hypot(alone(left), alone(right))


def _of_shares(pair: Pair, difference: float) -> float:
    """Standard error of a difference of two proportions on the same rows (a lower bound); 0 if n is unknown.

    They differ in at least |difference| of the rows, which is all that is known of how many differ. Without it a
    difference of one row in each of three seeds would be certain.
    """
    share = min(abs(difference), 1.0)
    return float(np.sqrt(share * (1 - share) / pair.rows)) if pair.rows > 0 else 0.0


def of_ratio(pair: Pair, ratio: float) -> float:
    """Standard error of a ratio from the tested rows: the squares of both relative errors add."""
    right = pair.right or pair.left
    means = float(np.nanmean(pair.left.value)), float(np.nanmean(right.value))
    if not all(means):
        return 0.0
    return abs(ratio) * math.hypot(alone(pair.left) / means[0], alone(right) / means[1])
