"""The Pareto front of utility and leak, as far as seeds support it.

A point is compared with each other one, so that the comparisons share the 5% (Bonferroni): otherwise more than one of
fifty useless schemes would be better than some other by chance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t

from .statistics import CONFIDENCE, ROUNDING


def pareto_front(cost: ArrayLike, gain: ArrayLike) -> np.ndarray:
    """Mask of the points on the Pareto front beyond noise, from costs and gains (points, seeds).

    Those that no other point beats: each other one costs more or gains less, by the whole 95% interval of the paired
    difference over seeds. Points that are equal in every seed do not beat one another. One seed supports none.
    """
    costs, gains = np.asarray(cost, dtype=float), np.asarray(gain, dtype=float)
    if costs.ndim != 2 or costs.shape[1] < 2:
        return np.zeros(len(costs), dtype=bool)
    cheaper, better = _surely_less(costs), _surely_less(-gains)
    same = (np.abs(costs[:, None] - costs) + np.abs(gains[:, None] - gains) <= ROUNDING).all(axis=2)
    return (cheaper | better | same).all(axis=1)


def beaten(cost: ArrayLike, gain: ArrayLike) -> np.ndarray:
    """Mask (points, points): True where the row's point is dominated by the column's. It costs more and gains less,
    each by the whole 95% interval of the paired difference over seeds; of one seed none is. Arrays (points, seeds).
    """
    costs, gains = np.asarray(cost, dtype=float), np.asarray(gain, dtype=float)
    if costs.ndim != 2 or costs.shape[1] < 2:
        return np.zeros((len(costs), len(costs)), dtype=bool)
    return _surely_less(-costs) & _surely_less(gains)


def _surely_less(values: np.ndarray) -> np.ndarray:
    """Matrix, True where a point (row) is surely less than another (column), at one level for all others."""
    differences = values[:, None] - values
    seeds, others = values.shape[1], max(1, len(values) - 1)
    reach = t.ppf(1 - (1 - CONFIDENCE) / 2 / others, seeds - 1) * differences.std(axis=2, ddof=1) / np.sqrt(seeds)
    return differences.mean(axis=2) + reach < -ROUNDING
