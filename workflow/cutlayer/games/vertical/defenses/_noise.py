"""The scale of noise that privee's code calls epsilon, and its standard deviation on answers to repeated queries."""

from __future__ import annotations

import math

# 0.48448: the classical Gaussian mechanism at delta 1e-5, for scores that differ by at most 0.1, as in PRIVEE's code.
UNIT = 0.1 * math.sqrt(2 * math.log(1.25 / 1e-5))


def deviation(epsilon: float, queries: int, accounted: bool) -> float:
    """Standard deviation of the mean of so many noisy answers about one row.

    `accounted` noise grows with the root of the number of queries, so that all answers together reveal what one would.
    """
    return UNIT / epsilon / (1.0 if accounted else math.sqrt(queries))
