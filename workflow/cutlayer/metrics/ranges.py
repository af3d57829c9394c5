"""ranges: what a metric can be, read off its name.

A name is words joined by underscores: `test_auc`, `attack_accuracy_max`. A word decides; a name without any of them may
be any number.
"""

from __future__ import annotations

import math

AMOUNTS = {"ce", "distance", "entropy", "entropies", "kl", "loss", "mse", "norm", "ratio", "seconds", "variance"}
SHARES = {
    "accuracy",
    "ace",
    "auc",
    "floor",
    "hit",
    "majority",
    "rate",
    "residual",
    "share",
    "tpr",
    "uniform",
    "utility",
}
COUNTS = {"classes", "evaluations", "features", "records", "specific", "steps", "values"}


def bounds(metric: str) -> tuple[float, float]:
    """The least and the greatest value that a metric can have."""
    words = set(metric.split("_"))
    if words & {"gap", "excess"}:  # a difference of two
        return -math.inf, math.inf
    if words & (AMOUNTS | COUNTS):
        return 0.0, math.inf
    return (0.0, 1.0) if words & SHARES else (-math.inf, math.inf)


def counted(metric: str) -> bool:
    """Whether a metric is a whole number, of which decimals say nothing."""
    return bool(COUNTS & set(metric.split("_")))
