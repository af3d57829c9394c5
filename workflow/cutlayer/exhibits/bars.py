"""bars: grouped bars of one metric with confidence intervals, one panel per setup."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cutlayer.core import failed_cells

from ._columns import column, measured, without_partial_skips
from ._figure import METHODS, absent, draw_printed, finish, label, panel_title, panels, series_styles, within
from ._printed import AS_PRINTED, with_printed
from ._seeds import dots, seeds_note, with_limits
from .base import Exhibit, PlotContext, footer

WIDTH = 0.8  # of a group, of the distance between two
HATCHES = ("", "//", "..", "xx")
LACKING = {"ha": "center", "va": "bottom", "fontsize": 9}


@dataclass(frozen=True)
class Bars(Exhibit):
    """Grouped bars; `group` and `series` are columns of the cells, `scheme`, or parameters of the defense."""

    metric: str = ""  # which to draw; empty: there is one
    group: str = "defense"
    series: str = ""  # the bars of a group; empty: one bar
    panel: str = "setup"
    x_label: str = ""
    y_label: str = "share"
    reference: float = 0.0  # a line; 0: none
    reasons: bool = True  # explain missing bars below the figure; else only the csv does

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path], context: PlotContext) -> None:
        """Write png and pdf."""
        cells = with_limits(cells)
        bars = without_partial_skips(cells[cells["metric"].isin([self.metric, ""])] if self.metric else cells)
        bars = bars.assign(group_=column(bars, self.group), series_=column(bars, self.series) if self.series else "")
        names = list(dict.fromkeys(bars[self.panel]))
        groups = list(dict.fromkeys(bars["group_"].dropna()))
        groups = sorted(groups) if bars["group_"].dtype.kind == "f" else groups
        styles = series_styles(measured(bars), self.series, "series_", context)
        if not self.series and self.group in METHODS:
            bars = bars.assign(color_=bars["group_"].map(series_styles(measured(bars), self.group, "group_", context)))
        printed = with_printed(bars, context.printed)
        figure, axes = panels(len(names))
        handles: dict[str, Any] = {}
        for axis, name in zip(axes, names, strict=True):
            own = bars[bars[self.panel] == name]
            axis.set_title(panel_title(own, name), fontsize=9)
            if measured(own).empty:
                absent(axis, own["skipped"])
                continue
            whole = own[~own["group_"].isin(own["group_"][failed_cells.among(own)])]
            for place, (one, style) in enumerate(styles.items()):
                where = {group: i + _shift(place, len(styles)) for i, group in enumerate(groups)}
                drawn = measured(whole[whole["series_"] == one])
                handles[self._named(one)] = self._bars(axis, drawn, where, WIDTH / len(styles), (place, style))
                published = printed[(printed[self.panel] == name) & (printed["series_"] == one)]
                if not published.empty:
                    at = [where[group] for group in published["group_"]]
                    black = {"color": "#000000", "marker": "o"}
                    handles[AS_PRINTED] = draw_printed(axis, at, published["published"], black)
            axis.set_ylim(bottom=min(0.0, measured(own)["mean"].min()))  # an interval may reach below
            if not measured(own)["mean"].any():  # of nothing but zeros no scale is seen
                axis.set_ylim(top=1)
            within(axis, "y", measured(own)["least"], measured(own)["most"])
            self._lacking(axis, own, groups, styles)
            self._dress(axis, groups)
        finish(figure, title, footer(cells, self.reasons, seeds_note(cells)), handles if self.series else {}, files)

    def _named(self, one: Any) -> str:
        return label(f"{self.series} = {one:g}" if isinstance(one, float) else str(one))

    def _bars(
        self,
        axis: Any,
        bars: pd.DataFrame,
        where: Mapping[Any, float],
        width: float,
        own: tuple[int, Mapping[str, Any]],
    ) -> Any:
        """Draw the bars of one series, given its place and its style."""
        x = pd.Series([where[group] for group in bars["group_"]], bars.index, dtype=float)
        sides = [bars["mean"] - bars["low"], bars["high"] - bars["mean"]]
        place, color = own[0], own[1]["color"]
        colors = [style["color"] for style in bars["color_"]] if "color_" in bars else color
        axis.errorbar(x, bars["mean"], yerr=sides, fmt="none", ecolor="#222222", lw=1, capsize=2, zorder=3)
        dots(axis, x, bars["each"], {"color": "#000000"})
        for place_of, value in zip(x, bars["mean"], strict=True):
            if value == 0:  # a bar that cannot be seen, unlike one that is not there
                axis.annotate("0", (place_of, 0), ha="center", va="bottom", fontsize=7, color=color)
        style = {"color": colors, "hatch": HATCHES[place % 4], "edgecolor": "white", "alpha": 0.9}
        return axis.bar(x, bars["mean"], width, zorder=1, **style)

    def _lacking(self, axis: Any, own: pd.DataFrame, groups: list[Any], styles: Mapping[Any, Any]) -> None:
        """Draw a cross in place of each missing bar or group of bars; the footer or the csv has the reason."""
        drawn = measured(own[~own["group_"].isin(own["group_"][failed_cells.among(own)])])
        bars = set(zip(drawn["group_"], drawn["series_"], strict=True))
        series = list(styles)
        for group, one in dict.fromkeys(zip(own["group_"], own["series_"], strict=True)):
            if group not in groups or (group, one) in bars:
                continue
            known = one in styles
            if known or group not in set(drawn["group_"]):
                place = groups.index(group) + (_shift(series.index(one), len(series)) if known else 0)
                color = styles[one]["color"] if known else "#444444"
                axis.text(place, 0.01, "×", transform=axis.get_xaxis_transform(), color=color, **LACKING)

    def _dress(self, axis: Any, groups: list[Any]) -> None:
        texts = [f"{group:g}" if isinstance(group, float) else label(group).replace(",", ", ") for group in groups]
        named = [textwrap.fill(text, 14) for text in texts]
        turned = {"rotation": 40, "ha": "right"} if max(map(len, named), default=0) > 6 else {}
        axis.set_xticks(range(len(groups)), named, fontsize=8, **turned)
        axis.grid(visible=False, axis="x")
        axis.set_xlabel(self.x_label, fontsize=8)
        axis.set_ylabel(self.y_label, fontsize=8)
        axis.set_xlim(-0.6, len(groups) - 0.4)
        if self.reference:
            axis.axhline(self.reference, color="#444444", lw=0.8, zorder=1)


def _shift(place: int, count: int) -> float:
    """Offset of one of `count` bars from the middle of its group."""
    return WIDTH * ((place + 0.5) / count - 0.5)
