"""curves: line plots with confidence bands, one panel per setup (or attack, ...)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ._columns import column, measured, without_partial_skips
from ._figure import (
    absent,
    draw_printed,
    finish,
    label,
    panel_title,
    panels,
    series_styles,
    tick_decades,
    tick_few,
    within,
)
from ._printed import AS_PRINTED, with_printed
from ._seeds import dots, seeds_note, with_limits
from .base import Exhibit, PlotContext, footer

MARKED = 15  # points of a line that get a marker, at most


@dataclass(frozen=True)
class Curves(Exhibit):
    """One line per series in each panel, the mean over seeds; the band is its 95% interval."""

    x: str = "share"
    x_label: str = "the passive party's share of features, d / d_t"
    y_label: str = "MSE per feature"
    series: str = "attack"
    panel: str = "setup"
    y_scale: str = "linear"
    cut: float = 0.0  # where the axis ends when a series dwarfs the others; 0: nowhere
    threshold: str = ""  # the parameter of a defense that is its bound on y: a dotted line
    floor: str = ""  # a metric: how far from 1/2 a useless score comes, drawn as a band

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path], context: PlotContext) -> None:
        """Write png and pdf."""
        cells = with_limits(cells)
        cells = cells.assign(series_=column(cells, self.series), panel_=column(cells, self.panel))
        cells = cells.assign(threshold_=column(cells, self.threshold) if self.threshold else float("nan"))
        lines = without_partial_skips(cells[cells["metric"] != self.floor] if self.floor else cells)
        names = [name for name in dict.fromkeys(lines["panel_"]) if name]
        styles = series_styles(measured(lines), self.series, "series_", context)
        printed = with_printed(lines, context.printed)
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
                handles[str(series)] = self._line(axis, line.sort_values(self.x), styles[str(series)])
            for series, points in printed[printed["panel_"] == name].groupby("series_"):
                handles[AS_PRINTED] = draw_printed(axis, points[self.x], points["published"], styles[str(series)])
            self._dress(axis, own, floor["mean"].max() if self.floor else 0.0, name)
        finish(figure, title, footer(cells, interval=seeds_note(cells)), handles, files)

    def _line(self, axis: Any, line: pd.DataFrame, style: Mapping[str, Any]) -> Any:
        for threshold in line["threshold_"].dropna().unique():
            axis.axhline(threshold, color=style["color"], lw=0.8, linestyle=":", zorder=0)
        axis.fill_between(line[self.x], line["low"], line["high"], color=style["color"], alpha=0.12, lw=0)
        if len(line) <= MARKED:
            dots(axis, line[self.x], line["each"], style)
        return axis.plot(line[self.x], line["mean"], **style, markevery=-(-len(line) // MARKED))[0]

    def _band(self, axis: Any, floor: pd.DataFrame) -> Any:
        reach = floor.groupby(self.x)["mean"].mean()
        axis.axhline(0.5, color="#444444", lw=0.8)
        return axis.fill_between(reach.index, 0.5 - reach, 0.5 + reach, color="#444444", alpha=0.2, lw=0)

    def _dress(self, axis: Any, own: pd.DataFrame, floor: float, name: str) -> None:
        axis.set(title=panel_title(own, name), xlabel=self.x_label, ylabel=self.y_label, yscale=self.y_scale)
        axis.title.set_fontsize(9)
        axis.xaxis.label.set_fontsize(8)
        low, high = own[["mean", "low"]].min().min(), own[["mean", "high"]].max().max()
        seeds = [value for each in own["each"] for value in each.values()]
        low, high = min([low, *seeds]), max([high, *seeds])
        if floor:
            low, high = min(low, 0.5 - floor), max(high, 0.5 + floor)
        tick_few(axis.xaxis, own[self.x])
        if self.y_scale == "log":
            tick_decades(axis.yaxis, own["mean"])
        if self.y_scale == "linear":
            reach = 0.06 * (high - low) or 0.05
            axis.set_ylim(low - reach, min(high + reach, self.cut) if self.cut else high + reach)
        within(axis, "y", own["least"], own["most"], whole=not self.cut)
