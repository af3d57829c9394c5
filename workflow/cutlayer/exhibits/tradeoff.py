"""tradeoff: leak against cost, one point per setting of a defense, one line per defense."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._figure import finish, panel_title, panels, style
from .base import Exhibit, footer

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Tradeoff(Exhibit):
    """Two metrics of the same cells against each other, with 95% intervals on both axes."""

    x: str = "kl"
    y: str = "mse"
    x_label: str = "average KL divergence from the true scores (bits)"
    y_label: str = "MSE per feature"
    x_scale: str = "log"

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path]) -> None:
        """Write png and pdf."""
        setups = list(dict.fromkeys(cells["setup"]))
        looks = style(dict.fromkeys(cells["defense"]))
        figure, axes = panels(len(setups))
        handles: dict[str, Any] = {}
        for axis, setup in zip(axes, setups, strict=True):
            own = cells[cells["setup"] == setup]
            for defense, group in own.groupby("defense", sort=False):
                handles[str(defense)] = self._line(axis, group, looks[str(defense)])
            axis.set(title=panel_title(own, setup), xlabel=self.x_label, ylabel=self.y_label, xscale=self.x_scale)
            axis.title.set_fontsize(9)
            axis.xaxis.label.set_fontsize(8)
        finish(figure, title, footer(cells), handles, files)

    def _line(self, axis: Any, group: pd.DataFrame, look: Mapping[str, Any]) -> Any:
        """Points in the order of the cost; a defense that costs nothing is a horizontal line."""
        x = group[group["metric"] == self.x].set_index("setting")
        y = group[group["metric"] == self.y].set_index("setting")
        both = x.join(y, lsuffix="_x", rsuffix="_y").sort_values("mean_x")
        if (both["mean_x"] <= 0).all():
            return axis.axhline(both["mean_y"].mean(), color=look["color"], linestyle=look["linestyle"], lw=1.3)
        spread = [[both[f"mean_{a}"] - both[f"low_{a}"], both[f"high_{a}"] - both[f"mean_{a}"]] for a in "xy"]
        axis.errorbar(
            both["mean_x"], both["mean_y"], xerr=spread[0], yerr=spread[1], fmt="none", ecolor=look["color"], alpha=0.3
        )
        return axis.plot(both["mean_x"], both["mean_y"], **look)[0]
