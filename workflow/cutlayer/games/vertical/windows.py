"""Windows of passive features: d consecutive columns from a start, cyclic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cutlayer.core.errors import InputError


def columns(total: int, d: int, start: int) -> np.ndarray:
    """Column numbers (d,) of the window of d columns that begins at `start`."""
    return (start + np.arange(d)) % total


def windows(
    total: int, wanted: Mapping[str, Any], passive: Sequence[str] | None, names: Sequence[str]
) -> list[tuple[int, int]]:
    """All windows (d, start) of a setup with `total` columns called `names`.

    `passive` names a single window; else `wanted` has `sizes` (a list of d, the number of evenly spaced
    ones from 1 to total, "all", or "half") and `starts` ("all" or the number of evenly spaced ones); `at_most`
    caps both numbers at any scale.
    """
    if passive:
        return [_window_of(passive, names)]
    sizes, starts = (_capped(wanted[key], wanted.get("at_most", total), total) for key in ("sizes", "starts"))
    return [(d, start) for d in _sizes(sizes, total) for start in _spaced(starts, 0, total - 1, total)]


def _capped(wanted: Any, most: int, total: int) -> Any:
    if wanted == "all":
        return min(most, total)
    return min(wanted, most) if isinstance(wanted, int) else wanted


def _sizes(wanted: Any, total: int) -> list[int]:
    if wanted == "half":
        return [round(total / 2)]
    if isinstance(wanted, Sequence) and not isinstance(wanted, str):
        return [int(d) for d in wanted]
    return [d + 1 for d in _spaced(wanted, 0, total - 1, total, ends=True)]


def _spaced(wanted: int, low: int, high: int, total: int, ends: bool = False) -> list[int]:
    """`wanted` evenly spaced numbers from low to high: with both ends, or around a cycle."""
    if wanted >= total:
        return list(range(low, high + 1))
    return sorted({round(float(v)) for v in np.linspace(low, high if ends else high + 1, wanted, endpoint=ends)})


def _window_of(passive: Sequence[str], names: Sequence[str]) -> tuple[int, int]:
    places = [list(names).index(name) for name in passive if name in names]
    if len(places) < len(passive) or places != list(columns(len(names), len(passive), places[0] if places else 0)):
        raise InputError(
            "setup.passive",
            f"{list(passive)} are not consecutive features",
            f"the order is {', '.join(names)}",
        )
    return len(passive), places[0]
