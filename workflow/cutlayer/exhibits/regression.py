"""regression: metrics of a run against a parameter of its defense, with least-squares lines, one panel per setup.

Points are means over seeds with 95% intervals; each seed is a dot. The line is fitted to the points; the 95% interval
of its slope is that of least squares, from the residuals of the points, not from the seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.stats import linregress, t

from ._columns import column, measured, without_partial_skips
from ._figure import absent, finish, panel_title, panels, series_styles
from ._seeds import dots, seeds_note, with_limits
from .base import Exhibit, PlotContext, footer


@dataclass(frozen=True)
class Regression(Exhibit):
    """One line for each metric, or for each defense and metric where there are several defenses."""

    x: str = "weight"  # a column of the cells or a parameter of the defense
    x_label: str = "weight"
    y_label: str = "loss"

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path], context: PlotContext) -> None:
        """Write png and pdf."""
        cells = with_limits(cells)
        points = without_partial_skips(cells.assign(x_=column(cells, self.x)))
        points = points.assign(series_=points["metric"])
        if measured(points)["defense"].nunique() > 1:
            points["series_"] = points["defense"] + " " + points["metric"]
        names = list(dict.fromkeys(points["setup"]))
        styles = series_styles(measured(points), "metric", "series_", context)
        figure, axes = panels(len(names))
        handles: dict[str, Any] = {}
        for axis, name in zip(axes, names, strict=True):
            own = points[points["setup"] == name]
            axis.set_title(panel_title(own, name), fontsize=9)
            if measured(own).empty:
                absent(axis, own["skipped"])
                continue
            for series, line in measured(own).groupby("series_", sort=False):
                handles[str(series)] = self._points(axis, line.sort_values("x_"), styles[str(series)])
            axis.set_xlabel(self.x_label, fontsize=8)
            axis.set_ylabel(self.y_label, fontsize=8)
            if axis.get_legend_handles_labels()[0]:
                axis.legend(fontsize=6.5, framealpha=0.7, handlelength=1.5)
        finish(figure, title, footer(cells, interval=seeds_note(cells)), handles, files)

    def _points(self, axis: Any, line: pd.DataFrame, style: Mapping[str, Any]) -> Any:
        sides = [line["mean"] - line["low"], line["high"] - line["mean"]]
        dots(axis, line["x_"], line["each"], style)
        axis.errorbar(line["x_"], line["mean"], yerr=sides, fmt="none", ecolor=style["color"], alpha=0.45, lw=1)
        found = fit(line["x_"], line["mean"])
        if found:
            intercept, slope, reach = found
            ends = [line["x_"].min(), line["x_"].max()]
            note = f"slope {slope:.2g} ± {reach:.2g}"
            heights = [intercept + slope * end for end in ends]
            axis.plot(ends, heights, color=style["color"], linestyle=style["linestyle"], lw=1.3, label=note)
        return axis.plot(line["x_"], line["mean"], **{**style, "linestyle": ""})[0]


def fit(x: Any, y: Any) -> tuple[float, float, float] | None:
    """Least-squares intercept, slope and half the width of the slope's 95% interval; None for fewer than 3 places."""
    if len(set(x)) < 3:
        return None
    found = linregress(x, y)
    return float(found.intercept), float(found.slope), float(t.ppf(0.975, len(x) - 2) * found.stderr)
