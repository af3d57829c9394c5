"""Verdicts as people read them: numbers rounded, an interval in one text."""

from __future__ import annotations

import pandas as pd

DIGITS = 4


def readable(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The verdicts with a column `interval`, and numbers as text, empty where there is none."""
    ends = zip(verdicts["low"], verdicts["high"], strict=True)
    table = verdicts.assign(interval=[interval(*pair) for pair in ends])
    return table.assign(**{name: table[name].map(number) for name in ("published", "ours", "difference")})


def number(value: float) -> str:
    """A number, rounded."""
    if pd.isna(value):
        return ""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.{DIGITS}g}"


def interval(low: float, high: float) -> str:
    """The ends of an interval; empty where it is a point."""
    if pd.isna(low) or pd.isna(high):
        return ""
    return "" if low == high else f"{low:.{DIGITS}g} to {high:.{DIGITS}g}"
