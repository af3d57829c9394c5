"""Variation over seeds in figures: a dot for each seed, and the ledger's interval of their mean."""

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


def with_limits(cells: pd.DataFrame, leak: str = "") -> pd.DataFrame:
    """The cells with columns `least` and `most`: the range of values that their metric can have.

    The metric `leak`, an AUC, is replaced by its folded leak, as in the ledger.
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
    """Cells with the AUC `metric` replaced by its leak, folded as in the ledger; worst cases are folded already."""
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
    """The values of one cell by seed, and their mean with its interval."""
    values = rows["value"].to_numpy()
    found = of_values(declared.AUC, values, rows["error"].to_numpy(), rows["rows"].to_numpy()).estimate()
    each = dict(zip(rows["seed"], values.tolist(), strict=True))
    return {"each": each, "mean": found.mean, "low": found.low, "high": found.high}


def seeds_note(cells: pd.DataFrame) -> str:
    """Note for the footer that explains the dots, bars and bands of a figure."""
    return "" if cells["seeds"].max() < 2 else SEEDS


def dots(axis: Any, x: pd.Series, each: pd.Series, style: Mapping[str, Any]) -> None:
    """Draw a faint dot for each seed of each cell, at the places `x`."""
    pairs = [(place, value) for place, values in zip(x, each, strict=True) for value in _several(values)]
    if pairs:
        axis.plot(*zip(*pairs, strict=True), color=style["color"], **FAINT)


def dots_of_two(axis: Any, xs: pd.Series, ys: pd.Series, style: Mapping[str, Any]) -> None:
    """Draw a faint dot for each seed that has both coordinates."""
    pairs = [(x[seed], y[seed]) for x, y in zip(xs, ys, strict=True) for seed in x if seed in y and len(x) > 1]
    if pairs:
        axis.plot(*zip(*pairs, strict=True), color=style["color"], **FAINT)


def _several(values: Mapping[int, float]) -> list[float]:
    return [*values.values()] if len(values) > 1 else []
