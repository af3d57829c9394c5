"""Share of the passive party's contribution to utility that a defense keeps, (u - floor) / (none - floor).

The floor is the utility without anything from the passive party: of a model whose label party returns zeros
(`send_nothing`), or of the most common class where there is no such model. Where the undefended model is not surely
above the floor by more than 2 points, the distance within which a printed utility counts as reached, there is no worth
to keep, and a share of it would be noise.

The interval of the ratio is Fieller's, of values that are paired by seed: the ratios r for which the mean of
(u - floor) - r (none - floor) is not surely other than 0.

Fieller, "Some problems in interval estimation", Journal of the Royal Statistical Society B 16, 1954.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import stdtrit

from .statistics import CONFIDENCE, Estimate, Sample

MARGIN = 0.02
WORTHLESS = "no worth to keep"


def lacking(worth: np.ndarray) -> str:
    """Reason why the passive party contributes too little, from undefended minus floor utility (seeds,); else empty."""
    found = Sample(worth).estimate()
    if found.low > MARGIN:
        return ""
    interval = f"{found.mean:.3f} ({found.low:.3f} to {found.high:.3f})"
    return f"{WORTHLESS}: without a defense the utility is {interval} above the floor, not surely more than {MARGIN}"


def kept(useful: np.ndarray, worth: np.ndarray, ratio: float = 1.0, parts: float = 1.0) -> Estimate:
    """Ratio of the means of `useful` and `worth` (seeds,), both above the floor, with Fieller's interval.

    It is that of one of several `parts`, with this `ratio` of the scatter of seeds.
    """
    mean = useful.mean(), worth.mean()
    squared = float(stdtrit(len(worth) - 1, 1 - (1 - CONFIDENCE) / 2 / parts)) ** 2 * ratio**2 / len(worth)
    spread = squared * np.cov(useful, worth)
    least, cross, most = (mean[0] ** 2 - spread[0, 0], mean[0] * mean[1] - spread[0, 1], mean[1] ** 2 - spread[1, 1])
    share = float(mean[0] / mean[1])
    if most <= 0:  # the worth may be 0, and the ratio anything
        return Estimate(share, -math.inf, math.inf)
    reach = math.sqrt(max(cross**2 - most * least, 0.0))
    return Estimate(share, float((cross - reach) / most), float((cross + reach) / most))
