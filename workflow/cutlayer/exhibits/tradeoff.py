"""tradeoff: leak against cost, one point per setting of a defense, one line per defense."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cutlayer.core import failed_cells

from ._columns import ordered
from ._figure import absent, finish, panel_title, panels, series_styles, tick_decades
from ._seeds import dots_of_two, seeds_note, with_limits
from .base import Axis, Exhibit, PlotContext, Points, footer, placed

LITTLE = 2  # a panel whose values differ by less has no use of a logarithm
WHERE = ["setup", "defense", "setting"]


@dataclass(frozen=True)
class Tradeoff(Exhibit):
    """Attack success against the cost of the defense, with a dot for each seed and intervals on both axes."""

    x: str = "kl"
    y: str = "mse"
    x_label: str = "average KL from the true scores (bits)"
    y_label: str = "MSE per feature"
    x_scale: str = "log"
    y_scale: str = "log"
    panel: str = "setup"

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path], context: PlotContext) -> None:
        """Write png and pdf."""
        cells = with_limits(cells)
        leak = self._with_cost(cells)
        names = list(dict.fromkeys(leak[self.panel]))
        styles = series_styles(leak[leak["skipped"] == ""], "defense", "defense", context)
        figure, axes = panels(len(names))
        handles: dict[str, Any] = {}
        for axis, name in zip(axes, names, strict=True):
            own = leak[leak[self.panel] == name]
            axis.set_title(panel_title(own, name), fontsize=9)
            drawn = own[own["skipped"] == ""]
            if drawn.empty:
                absent(axis, own["skipped"])
                continue
            for defense, group in drawn.groupby("defense", sort=False):
                handles[str(defense)] = self._line(axis, group.sort_values("mean_x"), styles[str(defense)])
            wide = drawn["mean"].max() > LITTLE * drawn["mean"].min()
            axis.set(ylabel=self.y_label, xscale=self.x_scale, yscale=self.y_scale if wide else "linear")
            if self.y_scale == "log" and wide:
                tick_decades(axis.yaxis, drawn["mean"])
            axis.set_xlabel(self.x_label, fontsize=8)
        noted = cells[(cells["skipped"] == "") | failed_cells.among(cells)]
        finish(figure, title, footer(noted, interval=seeds_note(cells)), handles, files)

    def points(self, cells: pd.DataFrame) -> Points:
        """The cost of each setting of each defense, and the success of each attack on it."""
        rows = self._with_cost(with_limits(cells))
        x, y = Axis(self.x_label, self.x_scale == "log"), Axis(self.y_label, self.y_scale == "log")
        return Points(placed(rows[rows["skipped"] == ""], "_x", ""), x, y)

    def _with_cost(self, cells: pd.DataFrame) -> pd.DataFrame:
        """The attacks' cells, each with the cost of its run (columns ending in `_x`)."""
        cost = cells[cells["metric"] == self.x].set_index(WHERE)[["mean", "low", "high", "each"]]
        leak = cells[(cells["metric"] == self.y) | (cells["skipped"] != "")].join(cost, on=WHERE, rsuffix="_x")
        placed_or_said = leak["mean_x"].notna() | (leak["skipped"] != "")  # a defense may have no such cost
        return leak[placed_or_said & (leak[self.panel] != "")]  # a run that failed has no attack

    def _line(self, axis: Any, points: pd.DataFrame, style: Mapping[str, Any]) -> Any:
        """Draw a defense's points in the order of their cost; one without any cost is a horizontal line."""
        if (points["mean_x"] < 1e-12).all():
            return axis.axhline(points["mean"].mean(), color=style["color"], linestyle=style["linestyle"], lw=1.3)
        errors = {
            f"{side}err": [
                points[f"mean{end}"] - points[f"low{end}"],
                points[f"high{end}"] - points[f"mean{end}"],
            ]
            for side, end in (("x", "_x"), ("y", ""))
        }
        dots_of_two(axis, points["each_x"], points["each"], style)
        axis.errorbar(points["mean_x"], points["mean"], **errors, fmt="none", ecolor=style["color"], alpha=0.3)
        joined = style if ordered(points["setting"]) else {**style, "linestyle": ""}
        return axis.plot(points["mean_x"], points["mean"], **joined)[0]
