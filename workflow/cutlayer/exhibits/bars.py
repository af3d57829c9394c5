"""bars: one metric in groups of bars, one panel per setup, with intervals."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cutlayer.core import failed_cells, failures

from ._columns import column, measured, settled
from ._figure import COLORS, absent, finish, label, panel_title, panels
from .base import Exhibit, footer

WIDTH = 0.8  # of a group, of the distance between two
HATCHES = ("", "//", "..", "xx")


@dataclass(frozen=True)
class Bars(Exhibit):
    """`group` and `series` are columns of the cells, `scheme`, or parameters of the defense."""

    metric: str = ""  # which to draw; empty: there is one
    group: str = "defense"
    series: str = ""  # the bars of a group; empty: one bar
    panel: str = "setup"
    x_label: str = ""
    y_label: str = "share"
    reference: float = 0.0  # a line; 0: none
    reasons: bool = True  # say below why bars are lacking; else the csv does, and only crosses and failures are here

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path]) -> None:
        """Write png and pdf."""
        bars = settled(cells[cells["metric"].isin([self.metric, ""])] if self.metric else cells)
        bars = bars.assign(group_=column(bars, self.group), series_=column(bars, self.series) if self.series else "")
        names = list(dict.fromkeys(bars[self.panel]))
        groups = list(dict.fromkeys(bars["group_"].dropna()))
        groups = sorted(groups) if bars["group_"].dtype.kind == "f" else groups
        series = list(dict.fromkeys(measured(bars)["series_"]))
        figure, axes = panels(len(names))
        handles: dict[str, Any] = {}
        for axis, name in zip(axes, names, strict=True):
            own = bars[bars[self.panel] == name]
            axis.set_title(panel_title(own, name), fontsize=9)
            if measured(own).empty:
                absent(axis, own["skipped"])
                continue
            for place, one in enumerate(series):
                where = {group: i + _shift(place, len(series)) for i, group in enumerate(groups)}
                drawn = measured(
                    own[(own["series_"] == one) & ~own["group_"].isin(own["group_"][failed_cells.among(own)])]
                )
                handles[self._named(one)] = self._bars(axis, drawn, where, WIDTH / len(series), place)
            axis.set_ylim(bottom=min(0.0, measured(own)["mean"].min()))  # an interval may reach below
            self._reasons(axis, own, groups, series)
            self._dress(axis, groups)
        finish(figure, title, footer(cells, self.reasons), handles if self.series else {}, files)

    def _named(self, one: Any) -> str:
        return label(f"{self.series} = {one:g}" if isinstance(one, float) else str(one))

    def _bars(self, axis: Any, bars: pd.DataFrame, where: Mapping[Any, float], width: float, place: int) -> Any:
        """The bars of one series."""
        x = [where[group] for group in bars["group_"]]
        sides = [bars["mean"] - bars["low"], bars["high"] - bars["mean"]]
        look = {"color": COLORS[place % 10], "hatch": HATCHES[place % 4], "edgecolor": "white", "alpha": 0.9}
        axis.errorbar(x, bars["mean"], yerr=sides, fmt="none", ecolor="#222222", lw=1, capsize=2, zorder=3)
        for place_of, value in zip(x, bars["mean"], strict=True):
            if value == 0:  # a bar that cannot be seen, unlike one that is not there
                axis.annotate("0", (place_of, 0), ha="center", va="bottom", fontsize=7, color=look["color"])
        return axis.bar(x, bars["mean"], width, zorder=2, **look)

    def _reasons(self, axis: Any, own: pd.DataFrame, groups: list[Any], series: list[Any]) -> None:
        """In place of a group that has no bar, why; a cross in place of one bar, whose reason the footer has."""
        drawn = measured(own[~own["group_"].isin(own["group_"][failed_cells.among(own)])])
        bars = set(zip(drawn["group_"], drawn["series_"], strict=True))
        lacking = own[own["skipped"] != ""]
        beside = lacking["group_"].isin(drawn["group_"])
        for pair in zip(lacking["group_"][beside], lacking["series_"][beside], strict=True):
            if pair[1] in series and pair not in bars:  # one that lacks in some seeds only has a bar
                look = {"color": COLORS[series.index(pair[1]) % 10], "ha": "center", "va": "bottom", "fontsize": 9}
                place = groups.index(pair[0]) + _shift(series.index(pair[1]), len(series))
                axis.text(place, 0.01, "×", transform=_columns(axis), **look)
        for _, row in lacking[~beside].drop_duplicates("group_").iterrows():
            failed = str(row["skipped"]).startswith(failures.PREFIX)
            reason = row["skipped"] if failed else f"does not apply: {row['skipped']}"
            text = textwrap.fill(textwrap.shorten(reason, 85, placeholder=" …"), 29)  # the footer has all of it
            place = groups.index(row["group_"]) if row["group_"] in groups else (len(groups) - 1) / 2
            axis.text(place, 0.02, text, rotation=90, ha="center", va="bottom", fontsize=7, transform=_columns(axis))

    def _dress(self, axis: Any, groups: list[Any]) -> None:
        named = [f"{group:g}" if isinstance(group, float) else textwrap.fill(label(group), 14) for group in groups]
        turned = {"rotation": 40, "ha": "right"} if max(map(len, named), default=0) > 6 else {}
        axis.set_xticks(range(len(groups)), named, fontsize=8, **turned)
        axis.grid(visible=False, axis="x")
        axis.set_xlabel(self.x_label, fontsize=8)
        axis.set_ylabel(self.y_label, fontsize=8)
        axis.set_xlim(-0.6, len(groups) - 0.4)
        if self.reference:
            axis.axhline(self.reference, color="#444444", lw=0.8, zorder=1)


def _shift(place: int, count: int) -> float:
    """Where one of `count` bars stands, from the middle of its group."""
    return WIDTH * ((place + 0.5) / count - 0.5)


def _columns(axis: Any) -> Any:
    """x in data, y as a share of the panel."""
    return axis.get_xaxis_transform()
