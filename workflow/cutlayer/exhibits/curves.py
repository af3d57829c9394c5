"""curves: lines over an axis, one panel per setup (or attack, ...), with intervals as bands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._figure import absent, finish, label, panel_title, panels, style
from .base import Exhibit, footer

if TYPE_CHECKING:
    import pandas as pd


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

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path]) -> None:
        """Write png and pdf."""
        shown = cells[cells["skipped"] == ""]
        names = [name for name in dict.fromkeys(cells[self.panel]) if name]
        looks = style(dict.fromkeys(shown[self.series]))
        figure, axes = panels(len(names))
        handles: dict[str, Any] = {}
        for axis, name in zip(axes, names, strict=True):
            own = shown[shown[self.panel] == name]
            if own.empty:
                axis.set_title(label(name), fontsize=9)
                absent(axis, cells["skipped"][cells[self.panel] == name])
                continue
            for series, line in own.groupby(self.series, sort=False):
                handles[str(series)] = self._line(axis, line.sort_values(self.x), looks[str(series)])
            self._dress(axis, own, name)
        finish(figure, title, footer(cells), handles, files)

    def _line(self, axis: Any, line: pd.DataFrame, look: Mapping[str, Any]) -> Any:
        axis.fill_between(line[self.x], line["low"], line["high"], color=look["color"], alpha=0.12, lw=0)
        return axis.plot(line[self.x], line["mean"], **look)[0]

    def _dress(self, axis: Any, own: pd.DataFrame, name: str) -> None:
        axis.set(title=panel_title(own, name), xlabel=self.x_label, ylabel=self.y_label, yscale=self.y_scale)
        axis.title.set_fontsize(9)
        axis.xaxis.label.set_fontsize(8)
        low, high = own["mean"].min(), own["mean"].max()
        if self.y_scale == "linear":
            reach = 0.06 * (high - low) or 0.05
            axis.set_ylim(low - reach, min(high + reach, self.cut) if self.cut else high + reach)
