"""curves: lines over an axis, one panel per setup (or attack, ...), with intervals as bands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ._columns import column, measured, settled
from ._figure import absent, finish, label, panel_title, panels, style, tick_decades
from .base import Exhibit, footer

MARKED = 40  # points of a line that still get a marker each


@dataclass(frozen=True)
class Curves(Exhibit):
    """One line per series in each panel, the mean over seeds; the band is the 95% interval."""

    x: str = "share"
    x_label: str = "share of features held by the passive party, d / d_t"
    y_label: str = "MSE per feature"
    series: str = "attack"
    panel: str = "setup"
    y_scale: str = "linear"
    cut: float = 0.0  # where the axis ends when a series dwarfs the others; 0: nowhere
    threshold: str = ""  # the parameter of a defense that is its bound on y: a dotted line
    floor: str = ""  # a metric: how far from 1/2 a useless score comes, drawn as a band

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path]) -> None:
        """Write png and pdf."""
        cells = cells.assign(series_=column(cells, self.series), panel_=column(cells, self.panel))
        cells = cells.assign(threshold_=column(cells, self.threshold) if self.threshold else float("nan"))
        lines = settled(cells[cells["metric"] != self.floor] if self.floor else cells)
        names = [name for name in dict.fromkeys(lines["panel_"]) if name]
        looks = style(dict.fromkeys(measured(lines)["series_"]))
        figure, axes = panels(len(names))
        handles: dict[str, Any] = {}
        for axis, name in zip(axes, names, strict=True):
            own = measured(lines[lines["panel_"] == name])
            if own.empty:
                axis.set_title(label(name), fontsize=9)
                absent(axis, lines["skipped"][lines["panel_"] == name])
                continue
            floor = measured(cells[(cells["panel_"] == name) & (cells["metric"] == self.floor)])
            if self.floor and not floor.empty:
                handles["chance floor (95%)"] = self._band(axis, floor)
            for series, line in own.groupby("series_", sort=False):
                handles[str(series)] = self._line(axis, line.sort_values(self.x), looks[str(series)])
            self._dress(axis, own, floor["mean"].max() if self.floor else 0.0, name)
        finish(figure, title, footer(cells), handles, files)

    def _line(self, axis: Any, line: pd.DataFrame, look: Mapping[str, Any]) -> Any:
        for threshold in line["threshold_"].dropna().unique():
            axis.axhline(threshold, color=look["color"], lw=0.8, linestyle=":", zorder=0)
        look = {**look, "marker": ""} if len(line) > MARKED else look
        axis.fill_between(line[self.x], line["low"], line["high"], color=look["color"], alpha=0.12, lw=0)
        return axis.plot(line[self.x], line["mean"], **look)[0]

    def _band(self, axis: Any, floor: pd.DataFrame) -> Any:
        reach = floor.groupby(self.x)["mean"].mean()
        axis.axhline(0.5, color="#444444", lw=0.8)
        return axis.fill_between(reach.index, 0.5 - reach, 0.5 + reach, color="#444444", alpha=0.2, lw=0)

    def _dress(self, axis: Any, own: pd.DataFrame, floor: float, name: str) -> None:
        axis.set(title=panel_title(own, name), xlabel=self.x_label, ylabel=self.y_label, yscale=self.y_scale)
        axis.title.set_fontsize(9)
        axis.xaxis.label.set_fontsize(8)
        low, high = own["mean"].min(), own["mean"].max()
        if floor:
            low, high = min(low, 0.5 - floor), max(high, 0.5 + floor)
        if self.y_scale == "log":
            tick_decades(axis.yaxis, own["mean"])
        if self.y_scale == "linear":
            reach = 0.06 * (high - low) or 0.05
            axis.set_ylim(low - reach, min(high + reach, self.cut) if self.cut else high + reach)
