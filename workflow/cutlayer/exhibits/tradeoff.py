"""tradeoff: leak against cost, one point per setting of a defense, one line per defense."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cutlayer.core import failed_cells

from ._columns import ordered
from ._figure import absent, finish, panel_title, panels, style, tick_decades
from ._seeds import dots_of_two, said, shown
from .base import Axis, Beside, Exhibit, Points, footer, placed

LITTLE = 2  # a panel whose values differ by less has no use of a logarithm
WHERE = ["setup", "defense", "setting"]


@dataclass(frozen=True)
class Tradeoff(Exhibit):
    """A run's cost against what an attack achieves on it, with a dot for each seed and intervals on both axes."""

    x: str = "kl"
    y: str = "mse"
    x_label: str = "average KL from the true scores (bits)"
    y_label: str = "MSE per feature"
    x_scale: str = "log"
    y_scale: str = "log"
    panel: str = "setup"

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path], beside: Beside) -> None:
        """Write png and pdf."""
        cells = shown(cells)
        leak = self._with_cost(cells)
        names = list(dict.fromkeys(leak[self.panel]))
        looks = style(leak[leak["skipped"] == ""], "defense", "defense", beside)
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
                handles[str(defense)] = self._line(axis, group.sort_values("mean_x"), looks[str(defense)])
            wide = drawn["mean"].max() > LITTLE * drawn["mean"].min()
            axis.set(ylabel=self.y_label, xscale=self.x_scale, yscale=self.y_scale if wide else "linear")
            if self.y_scale == "log" and wide:
                tick_decades(axis.yaxis, drawn["mean"])
            axis.set_xlabel(self.x_label, fontsize=8)
        told = cells[(cells["skipped"] == "") | failed_cells.among(cells)]
        finish(figure, title, footer(told, interval=said(cells)), handles, files)

    def points(self, cells: pd.DataFrame) -> Points:
        """What each setting of each defense costs, and what each attack achieves on it."""
        rows = self._with_cost(shown(cells))
        x, y = Axis(self.x_label, self.x_scale == "log"), Axis(self.y_label, self.y_scale == "log")
        return Points(placed(rows[rows["skipped"] == ""], "_x", ""), x, y)

    def _with_cost(self, cells: pd.DataFrame) -> pd.DataFrame:
        """The attacks' cells with what their runs cost beside them."""
        cost = cells[cells["metric"] == self.x].set_index(WHERE)[["mean", "low", "high", "each"]]
        leak = cells[(cells["metric"] == self.y) | (cells["skipped"] != "")].join(cost, on=WHERE, rsuffix="_x")
        return leak[leak[self.panel] != ""]  # a run that failed has no attack

    def _line(self, axis: Any, points: pd.DataFrame, look: Mapping[str, Any]) -> Any:
        """Points in the order of the cost; a defense that costs nothing is a horizontal line."""
        if (points["mean_x"] < 1e-12).all():
            return axis.axhline(points["mean"].mean(), color=look["color"], linestyle=look["linestyle"], lw=1.3)
        spread = {
            f"{side}err": [
                points[f"mean{end}"] - points[f"low{end}"],
                points[f"high{end}"] - points[f"mean{end}"],
            ]
            for side, end in (("x", "_x"), ("y", ""))
        }
        dots_of_two(axis, points["each_x"], points["each"], look)
        axis.errorbar(points["mean_x"], points["mean"], **spread, fmt="none", ecolor=look["color"], alpha=0.3)
        joined = look if ordered(points["setting"]) else {**look, "linestyle": ""}
        return axis.plot(points["mean_x"], points["mean"], **joined)[0]
