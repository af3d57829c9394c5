"""What figures show of the seeds: each as a dot, and an interval.

Where an exhibit has the undefended run beside a defense, seed by seed in the same setup, the interval is that of the
paired difference, about the mean: two points differ if the one's interval leaves out the other. The undefended run has
none then. Elsewhere it is that of the mean. Both end where the metric does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from cutlayer.ledger.cells import axis
from cutlayer.ledger.statistics import interval
from cutlayer.metrics.ranges import bounds
from cutlayer.plan.sweeps import UNDEFENDED

ALONE = " as dots, 95% t-intervals"
PAIRED = " as dots, 95% intervals of the paired difference to none"
MIXED = f"{PAIRED}, t-intervals where it is not there"
FAINT = {
    "label": "_seeds",
    "linestyle": "",
    "marker": "o",
    "markersize": 2.2,
    "markeredgewidth": 0,
    "alpha": 0.4,
    "zorder": 1.5,
}


def shown(cells: pd.DataFrame, two_sided: str = "") -> pd.DataFrame:
    """The cells with the intervals that figures show in `low` and `high`, and columns `paired`, `least` and `most`.

    The last two are between what the metric can be. Of the metric that is `two_sided`, an AUC, a seed's value below one
    half is as much of a leak above it.
    """
    cells = folded(cells, two_sided)
    place = ["setup", "attack", "metric", axis(cells.drop(columns=["paper", "exhibit", "scale"]))]
    alone = cells["defense"].isin([UNDEFENDED, ""]).all()
    none = cells[(cells["defense"] == UNDEFENDED) & cells["each"].map(bool)].head(0 if alone else len(cells))
    undefended = dict(zip(none[place].itertuples(index=False, name=None), none["each"], strict=True))
    keys = cells[place].itertuples(index=False, name=None)
    limits = [(0.5, 1.0) if two_sided and name == two_sided else bounds(name) for name in cells["metric"]]
    cells = cells.assign(least=[pair[0] for pair in limits], most=[pair[1] for pair in limits])
    found = [_interval(row, undefended.get(key)) for row, key in zip(cells.to_dict("records"), keys, strict=True)]
    ends = pd.DataFrame(found, columns=["low", "high", "paired"], index=cells.index)
    return cells.assign(low=ends["low"], high=ends["high"], paired=ends["paired"])


def folded(cells: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Cells of a metric with each seed's value below one half mirrored at it."""
    own = (cells["metric"] == metric) & cells["each"].map(bool)
    if not metric or not own.any():
        return cells
    each = cells["each"][own].map(lambda values: {seed: max(value, 1 - value) for seed, value in values.items()})
    ends = pd.DataFrame([interval([*values.values()]) for values in each], each.index, ["mean", "low", "high"])
    return cells.assign(
        each=each.reindex(cells.index).where(own, cells["each"]),
        **{name: ends[name].reindex(cells.index).where(own, cells[name]) for name in ("mean", "low", "high")},
    )


def said(cells: pd.DataFrame) -> str:
    """What the dots, bars and bands of a figure are."""
    if cells["seeds"].max() < 2:
        return ""
    several = cells[(cells["seeds"] > 1) & (cells["defense"] != UNDEFENDED)]
    if several.empty or not several["paired"].any():
        return ALONE
    return PAIRED if several["paired"].all() else MIXED


def dots(axis: Any, x: pd.Series, each: pd.Series, look: Mapping[str, Any]) -> None:
    """A faint dot for each seed of each cell, at the places `x`."""
    pairs = [(place, value) for place, values in zip(x, each, strict=True) for value in _several(values)]
    if pairs:
        axis.plot(*zip(*pairs, strict=True), color=look["color"], **FAINT)


def dots_of_two(axis: Any, xs: pd.Series, ys: pd.Series, look: Mapping[str, Any]) -> None:
    """A faint dot for each seed that has both."""
    pairs = [(x[seed], y[seed]) for x, y in zip(xs, ys, strict=True) for seed in x if seed in y and len(x) > 1]
    if pairs:
        axis.plot(*zip(*pairs, strict=True), color=look["color"], **FAINT)


def _several(values: Mapping[int, float]) -> list[float]:
    return [*values.values()] if len(values) > 1 else []


def _interval(row: Mapping[Any, Any], undefended: Mapping[int, float] | None) -> tuple[float, float, bool]:
    low, high = row["low"], row["high"]
    paired = undefended is not None and len(row["each"]) > 1 and set(row["each"]) <= set(undefended)
    if undefended is not None and paired:
        _, low, high = interval([value - undefended[seed] for seed, value in row["each"].items()])
        reach = (high - low) / 2 if row["defense"] != UNDEFENDED else np.nan
        low, high = row["mean"] - reach, row["mean"] + reach
    return max(low, row["least"]) if low == low else low, min(high, row["most"]) if high == high else high, paired
