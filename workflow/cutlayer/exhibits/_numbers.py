"""Formatting of numbers: as many decimals as they need, and as many as the paper publishes."""

from __future__ import annotations

import math

from cutlayer.metrics import declared

LOPSIDED = 0.1  # of the width of an interval, by which its ends may be apart from equally far
MOST = 7  # decimals; what is still smaller is written in powers of ten


def decimals(value: float, digits: int) -> int:
    """Number of decimals that show two significant digits of a value, at least `digits`."""
    return digits if value == 0 else max(digits, 1 - math.floor(math.log10(abs(value))))


def number(metric: str, mean: float, low: float, high: float, digits: int) -> str:
    """A mean ± half the width of its interval; the two ends instead where they are not equally far from the mean."""
    if math.isnan(low) or low == high:
        if _counted(metric) and mean.is_integer():
            return f"{mean:,.0f}"
        shown = decimals(mean, digits)
        return f"{mean:.{shown}f}" if shown <= MOST else f"{mean:.1e}"
    shown = 1 if _counted(metric) else min(decimals(mean, digits), MOST)
    if abs(high + low - 2 * mean) > LOPSIDED * (high - low):
        return f"{mean:,.{shown}f} ({low:,.{shown}f} to {high:,.{shown}f})"
    return f"{mean:,.{shown}f} ± {(high - low) / 2:,.{shown}f}"


def printed(metric: str, value: float, printed_decimals: int) -> str:
    """A published value with the decimals of the paper."""
    return f"{value:,.0f}" if _counted(metric) else f"{value:.{max(0, printed_decimals)}f}"


def difference(metric: str, ours: float, theirs: float, digits: int) -> str:
    """Our value minus the published one, signed."""
    return f"{ours - theirs:+,.0f}" if _counted(metric) else f"{ours - theirs:+.{digits}f}"


def _counted(metric: str) -> bool:
    """True if a metric is a count, which has no decimals."""
    return declared.of(metric).kind == declared.COUNT
