"""Formatting of verdicts: numbers and intervals with as many decimals as the interval justifies."""

from __future__ import annotations

import math

import pandas as pd

from .statistics import ROUNDING

OURS = "Ours. "  # before a statement that is not of the paper
ALONE = "†"
ALONE_SAYS = f"{ALONE} stands by itself, not when all setups of the claim are judged at once"
NUMBERS = ("ours", "difference", "folded")  # that are shown to as many decimals
DIGITS = 4  # of a number without an interval
DIGITS_OF_REACH = 2


def readable(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The verdicts with a column `interval` and with numbers as text."""
    ends = [*zip(verdicts["low"], verdicts["high"], strict=True)]
    places = [decimals(*pair) for pair in ends]
    ours = {name: [*map(number, verdicts[name], places)] for name in NUMBERS if name in verdicts}
    return verdicts.assign(**ours, published=verdicts["published"].map(number), interval=[interval(*p) for p in ends])


def decimals(low: float, high: float) -> int | None:
    """Number of decimals that show two digits of an interval's width; None if it is a point up to rounding."""
    if pd.isna(low) or pd.isna(high) or high - low <= ROUNDING:
        return None
    return max(0, DIGITS_OF_REACH - 1 - math.floor(math.log10((high - low) / 2)))


def number(value: float, places: int | None = None) -> str:
    """A number with these decimals; without, as an integer or with four digits."""
    if pd.isna(value):
        return ""
    if places is not None:
        return f"{round(value, places) + 0.0:,.{places}f}"  # no -0.00
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.{DIGITS}g}"


def interval(low: float, high: float) -> str:
    """Text of an interval; empty if it is a point."""
    places = decimals(low, high)
    return "" if places is None else f"{number(low, places)} to {number(high, places)}"
