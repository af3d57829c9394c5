"""trajectory: two losses of a training against each other, step by step, with arrows in the direction of training.

Each point is the mean over seeds, smoothed by a uniform filter. The threshold of a defense is a line of its color.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import pandas as pd
from scipy.ndimage import uniform_filter1d

from ._columns import column, measured, without_partial_skips
from ._figure import absent, finish, panel_title, panels, series_styles, tick_decades
from .base import Exhibit, PlotContext, footer

FEW = 10  # steps that get a marker each: so short a way is not a curve
ARROWS = (0.25, 0.6, 1.0)  # where on a line, as a share of its points


@dataclass(frozen=True)
class Trajectory(Exhibit):
    """One panel for each setup, one line for each defense and setting; both metrics are recorded at each step."""

    limits: ClassVar[dict[str, tuple[float | None, float | None]]] = {"window": (1, None)}

    x: str = "leakage"
    y: str = "utility_loss"
    x_label: str = "privacy loss"
    y_label: str = "utility loss"
    x_scale: Literal["linear", "log"] = "linear"
    threshold: str = ""  # the parameter of a defense that is its bound on x
    window: int = 3  # points that are averaged

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path], context: PlotContext) -> None:
        """Write png and pdf."""
        lines = without_partial_skips(cells[cells["metric"].isin([self.x, self.y]) | (cells["skipped"] != "")])
        lines = lines.assign(series_=column(lines, "scheme"))
        lines = lines.assign(threshold_=column(lines, self.threshold) if self.threshold else float("nan"))
        names = list(dict.fromkeys(lines["setup"]))
        styles = series_styles(measured(lines), "scheme", "series_", context)
        figure, axes = panels(len(names))
        handles: dict[str, Any] = {}
        for axis, name in zip(axes, names, strict=True):
            own = lines[lines["setup"] == name]
            axis.set_title(panel_title(own, name), fontsize=9)
            if measured(own).empty:
                absent(axis, own["skipped"])
                continue
            for series, line in measured(own).groupby("series_", sort=False):
                if line["metric"].nunique() < 2:  # a defense need not know its own privacy loss
                    continue
                handles[str(series)] = self._line(axis, line, styles[str(series)])
            axis.set(xscale=self.x_scale, ylabel=self.y_label)
            if self.x_scale == "log":
                tick_decades(axis.xaxis, own["mean"][own["metric"] == self.x])
            axis.set_xlabel(self.x_label, fontsize=8)
        finish(figure, title, footer(cells, interval=", mean"), handles, files)

    def _line(self, axis: Any, line: pd.DataFrame, style: Mapping[str, Any]) -> Any:
        """Draw the trajectory of one training, first step to last."""
        way = line.pivot(index="step", columns="metric", values="mean").sort_index()
        x, y = (self._smooth(way[name].to_numpy()) for name in (self.x, self.y))
        back = max(1, len(x) // 15)  # a single step may point anywhere
        arrow = {"arrowstyle": "-|>", "color": style["color"], "lw": 0, "mutation_scale": 9}
        for share in ARROWS:
            end = max(1, round(share * (len(x) - 1)))
            if end < len(x):
                start = max(0, end - back)
                axis.annotate("", (x[end], y[end]), (x[start], y[start]), arrowprops=arrow)
        for threshold in line["threshold_"].dropna().unique():
            axis.axvline(threshold, color=style["color"], lw=0.8, linestyle=":", zorder=0)
        return axis.plot(x, y, **style if len(x) <= FEW else {**style, "marker": ""})[0]

    def _smooth(self, values: Any) -> Any:
        return uniform_filter1d(values, self.window, mode="nearest")
