"""Number of seeds that would decide an undecided verdict, assuming the present mean and scatter.

With n seeds in place of k the reach of Student's interval is t(n - 1) / sqrt(n) over t(k - 1) / sqrt(k) of what it is.
So the values of seeds are drawn together by that ratio, and the rule is applied again. The answer is rough: a mean of
few seeds may be anywhere in its interval. What the number of tested rows leaves stays in it, see `statistics.Sample`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable

from scipy import stats

from .estimates import Compared
from .statistics import CONFIDENCE, ROUNDING

COUNTS = (5, 10, 20, 30, 50, 100, 200, 500)
NEVER = f"{COUNTS[-1]} seeds would not decide it by this interval, which keeps the error of one seed's tested rows"
TOO_NEAR = f"{COUNTS[-1]} seeds would not decide it with the present mean and scatter"
ALL = 1e-9  # of the scatter is gone


def enough(ours: Compared, seeds: int, decides: Callable[[Compared], bool]) -> str:
    """Text with the least of COUNTS at which the rule decides; empty for a single seed or for facts of the data."""
    again = ours.again
    if seeds < 2 or again is None:
        return ""
    more = [count for count in COUNTS if count > seeds]
    first = bisect_left(more, True, key=lambda count: decides(again(_reach(count) / _reach(seeds), 1)))
    if first < len(more):
        return f"about {more[first]} seeds would decide it"
    left = again(ALL, 1).shown
    return NEVER if left.high - left.low > ROUNDING else TOO_NEAR


def says(text: str) -> bool:
    """Whether a text is one of `enough`."""
    return text in (NEVER, TOO_NEAR) or text.endswith("seeds would decide it")


def _reach(seeds: int) -> float:
    """Half the width of the interval of a mean over n seeds, in standard deviations."""
    return float(stats.t.ppf((1 + CONFIDENCE) / 2, seeds - 1)) / math.sqrt(seeds)
