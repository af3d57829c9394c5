"""What figures show of the seeds: each as a dot, and the interval of their mean, which is the ledger's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from cutlayer.ledger.chance import TRAINING, two_sided
from cutlayer.ledger.samples import of_values
from cutlayer.metrics import declared

SEEDS = " as dots, 95% intervals"
FAINT = {
    "label": "_seeds",
    "linestyle": "",
    "marker": "o",
    "markersize": 2.2,
    "markeredgewidth": 0,
    "alpha": 0.4,
    "zorder": 1.5,
}


def shown(cells: pd.DataFrame, leak: str = "") -> pd.DataFrame:
    """The cells with columns `least` and `most`, between what the metric can be.

    Of the metric that is a `leak`, an AUC, what it leaks is shown, as the ledger reads it.
    """
    cells = folded(cells, leak)
    limits = [declared.of(name).range for name in cells["metric"]]
    cells = cells.assign(least=[pair[0] for pair in limits], most=[pair[1] for pair in limits])
    if not leak:
        return cells
    own = cells["metric"] == leak
    lowest = cells.loc[own, "low"].fillna(cells.loc[own, "mean"]).min()
    return cells.assign(least=cells["least"].mask(own, min(0.5, lowest)))


def folded(cells: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Cells of a metric with what it leaks; those of worst cases are that already."""
    own = (cells["metric"] == metric) & cells["each"].map(bool)
    if not metric or "by" in cells or not own.any():
        return cells
    each = cells["each"][own]
    rows = cells.loc[own, [*TRAINING, "error", "rows"]].assign(seed=each.map(list), value=_values(each))
    rows = two_sided(rows.explode(["seed", "value"]).astype({"value": float}).assign(chance=0.5))
    found = {place: _cell(group) for place, group in rows.groupby(level=0)}
    new = pd.DataFrame.from_dict(found, orient="index")
    columns = {str(name): new[name].reindex(cells.index).where(own, cells[name]) for name in new}
    return cells.assign(**columns)


def _values(each: pd.Series) -> pd.Series:
    return each.map(lambda values: list(values.values()))


def _cell(rows: pd.DataFrame) -> dict[str, Any]:
    """The seeds of one cell, and their mean with its interval."""
    values = rows["value"].to_numpy()
    found = of_values(declared.AUC, values, rows["error"].to_numpy(), rows["rows"].to_numpy()).estimate()
    each = dict(zip(rows["seed"], values.tolist(), strict=True))
    return {"each": each, "mean": found.mean, "low": found.low, "high": found.high}


def said(cells: pd.DataFrame) -> str:
    """What the dots, bars and bands of a figure are."""
    return "" if cells["seeds"].max() < 2 else SEEDS


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
