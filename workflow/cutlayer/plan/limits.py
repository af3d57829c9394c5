"""Rejects checks that every result satisfies, or that none can.

Metrics declare their range, which gives the range of a check's statistic. A limit at one end of it can never be
violated, and one beyond the other end can never be met.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from cutlayer.core.errors import InputError
from cutlayer.metrics import declared

from .check_lines import AT_EQUAL, listed

Ends = tuple[float, float]


def refuse(check: Mapping[str, Any], where: str) -> None:
    """Raise for a limit that can never be violated or met, and for a trade-off in a metric without a direction."""
    for axis in ("leak", "utility") if check["statistic"] in AT_EQUAL else ():
        for name in listed(check[axis]["metric"]):
            if not declared.of(name).better:
                raise InputError(where, f"of {name} neither more nor less is better", "expected another metric")
    least, most = reach(check)
    low, high = check.get("at_least", -math.inf), check.get("at_most", math.inf)
    reason = f"the {check['statistic']} is between {least:g} and {most:g}"
    for key, limit, sure in (("at_least", low, low <= least), ("at_most", high, high >= most)):
        if key in check and sure:
            raise InputError(
                where, f"{limit:g} can never be violated: {reason}", "expected a limit that a result can violate"
            )
    if low > most or high < least:
        limit = low if low > most else high
        raise InputError(where, f"{limit:g} can never be met: {reason}", "expected a limit within that")


def reach(check: Mapping[str, Any]) -> Ends:
    """Range of a check's statistic: its least and greatest possible value."""
    statistic = check["statistic"]
    if statistic in AT_EQUAL:
        value = _of(check["utility" if statistic == "at_equal_leak" else "leak"])
        return _less(value, value)
    if statistic == "share_below":
        return 0.0, 1.0
    if statistic in ("slope", "kept"):
        return -math.inf, math.inf
    left, right = _of(check["left"]), _of(check.get("right", []))
    if statistic == "ratio":
        return 0.0 if min(left[0], right[0]) >= 0 else -math.inf, math.inf
    return _less(left, right) if "right" in check else left


def _of(selections: Any) -> Ends:
    """Range that covers all selected metrics."""
    names = [name for one in listed(selections) for name in listed(one.get("metric", ""))]
    ranges = [declared.of(name).range for name in names]
    return (min(low for low, _ in ranges), max(high for _, high in ranges)) if ranges else (0.0, 0.0)


def _less(left: Ends, right: Ends) -> Ends:
    return left[0] - right[1], left[1] - right[0]
