"""Means over seeds with their uncertainty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

CONFIDENCE = 0.95
ROUNDING = 1e-9  # values that are closer than this are equal: one processor rounds them up, another down


def interval(values: Sequence[float] | np.ndarray) -> tuple[float, float, float]:
    """Mean and the ends of Student's 95% interval; one value alone has no interval (ends are nan)."""
    sample = np.asarray(values, dtype=float)
    mean = float(sample.mean())
    if len(sample) < 2:
        return mean, float("nan"), float("nan")
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(sample) - 1) * sample.std(ddof=1) / np.sqrt(len(sample)))
    return mean, mean - reach, mean + reach
