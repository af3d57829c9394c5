"""sweep: attack success and test utility against a parameter of the defense, one panel per setup."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from ._columns import column, measured, without_partial_skips
from ._figure import absent, draw_printed, finish, panel_title, panels, series_styles, within
from ._printed import AS_PRINTED, with_printed
from ._seeds import dots, seeds_note, with_limits
from .base import Exhibit, PlotContext, footer


@dataclass(frozen=True)
class Sweep(Exhibit):
    """One line for each attack and one for the test utility, with a dot for each seed and a confidence band."""

    parameter: str = "expansion"  # of the defense, read from its settings
    leak: str = "attack_utility"  # a metric of an attack
    utility: str = "test_utility"  # a metric of a run
    x_label: str = "K / k"
    y_label: str = "AUC"
    x_scale: Literal["linear", "log"] = "linear"
    utility_label: str = "test utility"
    chance: float = 0.5  # the leak of a guess without any view; a line
    chance_metric: str = ""  # a metric of an attack that says it instead, panel by panel
    two_sided: bool = True  # a leak as far below chance counts as much, as that of an AUC does

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path], context: PlotContext) -> None:
        """Write png and pdf."""
        cells = with_limits(cells, self.leak if self.two_sided else "")
        lines = cells.assign(x=column(cells, self.parameter), series=cells["attack"])
        lines.loc[lines["metric"] == self.utility, "series"] = self.utility_label
        guesses = lines[lines["metric"] == self.chance_metric].groupby("setup")["mean"].mean()
        lines = without_partial_skips(lines[lines["metric"].isin([self.leak, self.utility, ""])])
        names = list(dict.fromkeys(lines["setup"]))
        attacks = measured(lines)[measured(lines)["series"] != self.utility_label]
        styles = series_styles(attacks, "attack", "series", context)
        styles[self.utility_label] = {"color": "#000000", "lw": 2.2, "marker": "", "linestyle": "-"}
        printed = with_printed(lines, context.printed)
        figure, axes = panels(len(names))
        handles: dict[str, Any] = {}
        for axis, name in zip(axes, names, strict=True):
            own = lines[lines["setup"] == name]
            axis.set_title(panel_title(own, name), fontsize=9)
            if measured(own).empty:
                absent(axis, own["skipped"])
                continue
            for series, line in measured(own).groupby("series", sort=False):
                handles[str(series)] = self._line(axis, line.sort_values("x"), styles[str(series)])
            for series, points in printed[printed["setup"] == name].groupby("series"):
                style = {**styles[str(series)], "marker": styles[str(series)]["marker"] or "o"}
                handles[AS_PRINTED] = draw_printed(axis, points["x"], points["published"], style)
            axis.axhline(guesses.get(name, self.chance), color="#444444", lw=0.8, zorder=0)
            mirrored = ", attacks below 1/2 mirrored" if self.two_sided else ""
            axis.set(xscale=self.x_scale, ylabel=self.y_label + mirrored)
            values = sorted(set(measured(own)["x"]))
            axis.set_xticks(values, [f"{value:g}" for value in values], minor=False)
            axis.set_xticks([], minor=True)
            axis.set_xlabel(self.x_label, fontsize=8)
            within(axis, "y", measured(own)["least"], measured(own)["most"])
        finish(figure, title, footer(cells, interval=seeds_note(cells)), handles, files)

    def _line(self, axis: Any, line: pd.DataFrame, style: Mapping[str, Any]) -> Any:
        axis.fill_between(line["x"], line["low"], line["high"], color=style["color"], alpha=0.12, lw=0)
        dots(axis, line["x"], line["each"], style)
        return axis.plot(line["x"], line["mean"], **style)[0]
