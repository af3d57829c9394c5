"""frontier: leak to an attack against remaining utility, with the Pareto front over all defenses.

One point for each setting, with intervals over seeds on both axes, and one line for each defense whose settings have an
order. A point is on the front if every other point, of any defense, leaks more or is less useful beyond noise. The
`floor` is a horizontal line with its interval: the utility when the protecting party sends nothing, with a cross where
that leaks. Where cells have the share of the worth above the floor that is kept, a second axis shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from cutlayer.ledger.front import pareto_front
from cutlayer.ledger.worth import KEPT, WORTHLESS
from cutlayer.plan.sweeps import UNDEFENDED

from ._columns import first_of, measured, ordered, with_run, without_partial_skips
from ._figure import absent, draw_printed, finish, panel_title, panels, same_limits, series_styles, tick_plainly, within
from ._printed import AS_PRINTED, pairs
from ._seeds import dots_of_two, seeds_note, with_limits
from .base import Axis, Exhibit, PlotContext, Points, footer, placed

FRONT = "Pareto front, beyond noise"
MIRRORED = ", below 1/2 mirrored"
LARGE, PALE = {"markersize": 9, "lw": 2.4, "zorder": 6}, {"alpha": 0.4}  # what is highlighted, and what is not
FLOOR = {"color": "#666666", "linestyle": (0, (6, 2)), "lw": 1.3, "zorder": 0.5}  # a gray that no defense has
CROSS = {"label": "_floor", "linestyle": "", "marker": "x", "markersize": 5, "color": FLOOR["color"]}
SHARE = "share of the worth kept"
NEARLY_0 = 1e-3  # of a symlog axis, which is linear below


@dataclass(frozen=True)
class Frontier(Exhibit):
    """One panel for each setup and attack."""

    leak: str = "attack_utility"  # metrics of an attack, separated by commas: the first that a case has
    utility: str = "test_utility"  # a metric of a run
    leak_label: str = "leak AUC"
    utility_label: str = "test AUC"
    leak_axis: Literal["x", "y"] = "x"
    better: Literal["up", "down"] = "up"  # whether more or less of the utility's metric is better
    safer: Literal["up", "down"] = "down"  # whether more or less of the leak's metric is safer
    utility_scale: Literal["linear", "log", "symlog"] = "linear"
    leak_scale: Literal["linear", "log"] = "linear"
    chance: float = 0.5  # the leak of a guess without any view; a line
    chance_metric: str = ""  # a metric of an attack that says it instead, panel by panel
    chance_attack: str = ""  # an attack without any view that says it instead, setup by setup
    two_sided: bool = True  # a leak as far below chance counts as much, as that of an AUC does
    alike: bool = False  # whether panels of a setup have the same axes
    only: str = ""  # of the attacks these, in this order, separated by commas; empty: all
    floor: str = "send_nothing"  # a defense whose utility is a line, with a cross where it leaks
    highlight: str = ""  # defenses that are drawn large, and all others pale, separated by commas; empty: none

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path], context: PlotContext) -> None:
        """Write png and pdf."""
        leaks = self._leaks
        cells = with_limits(cells, leaks[0] if self.two_sided else "")
        points = self._attacked(cells)
        guesses = points[points["metric"] == self.chance_metric].groupby(["setup", "attack"])["mean"].mean()
        points = first_of(points, leaks)
        blind = points[points["attack"] == self.chance_attack].groupby("setup")["mean"].mean()
        points = points[points["attack"] != self.chance_attack]
        columns = self.only.split(", ") if self.only else [*points["attack"].unique()]
        points = points[points["attack"].isin(columns)]
        setups = [*points["setup"].unique()]
        panel = list(points[["setup", "attack"]].drop_duplicates().itertuples(index=False, name=None))
        panel.sort(key=lambda names: (setups.index(names[0]), columns.index(names[1])))
        styles = self._highlighted(series_styles(measured(points), "defense", "defense", context))
        printed = pairs(context.printed, leaks, self.utility)
        attacks = points["attack"].nunique()
        figure, axes = panels(len(panel), attacks if 1 < attacks <= 4 else 0)
        handles: dict[str, Any] = {}
        for axis, (setup, attack) in zip(axes, panel, strict=True):
            own = points[(points["setup"] == setup) & (points["attack"] == attack)]
            axis.set_title(panel_title(own, f"{setup}, {attack}"), fontsize=9)
            drawn = measured(own)
            if drawn.empty:
                absent(axis, own["skipped"])
                continue
            handles |= self._pareto_front(axis, drawn)
            for defense, line in drawn.groupby("defense", sort=False):
                floor, style = defense == self.floor, styles[str(defense)]
                handles[str(defense)] = self._floor(axis, line) if floor else self._line(axis, line, style)
            said_here = printed[(printed["setup"] == setup) & (printed["attack"] == attack)]
            for row in said_here[said_here["defense"].isin(list(styles))].to_dict("records"):
                at = self._ordered([self._mirrored(row["leak"])], [row["utility"]])
                handles[AS_PRINTED] = draw_printed(axis, *at, styles[row["defense"]])
            self._dress(axis, guesses.get((setup, attack), blind.get(setup, self.chance)), drawn)
            self._second_axis(axis, cells[(cells["setup"] == setup) & (cells["attack"] == "")])
        if self.alike:
            for setup in dict.fromkeys(name for name, _ in panel):
                same_limits([axis for axis, place in zip(axes, panel, strict=True) if place[0] == setup])
        handles = {name: handles[name] for name in sorted(handles, key=(FRONT, AS_PRINTED).__contains__)}
        finish(figure, title, footer(cells, interval=seeds_note(cells)), handles, files)

    def _highlighted(self, styles: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        own = self.highlight.split(", ") if self.highlight else []
        if not set(own) & set(styles):
            return styles
        return {name: style | (LARGE if name in own else PALE) for name, style in styles.items()}

    def points(self, cells: pd.DataFrame) -> Points:
        """Leak of each setting of each defense to each attack, and its utility."""
        cells = with_limits(cells, self._leaks[0] if self.two_sided else "")
        rows = measured(first_of(self._attacked(cells), self._leaks))
        rows = rows[rows["attack"] != self.chance_attack]
        leak = Axis(self.leak_label + MIRRORED * self.two_sided, self.leak_scale != "linear")
        x, y = self._ordered(leak, Axis(self.utility_label, self.utility_scale != "linear"))
        return Points(placed(rows, *self._ordered("", "_run")), x, y)

    @property
    def _leaks(self) -> list[str]:
        return [name.strip() for name in self.leak.split(",")]

    def _attacked(self, cells: pd.DataFrame) -> pd.DataFrame:
        """The attacks' cells, joined with the utility of their runs; skips of whole runs go to the footer."""
        points = without_partial_skips(with_run(cells, self.utility))
        return points[points["attack"] != ""]

    def _ordered(self, leak: Any, utility: Any) -> tuple[Any, Any]:
        return (leak, utility) if self.leak_axis == "x" else (utility, leak)

    def _mirrored(self, leak: float) -> float:
        return max(leak, 1 - leak) if self.two_sided else leak

    def _pareto_front(self, axis: Any, points: pd.DataFrame) -> dict[str, Any]:
        """Draw a broad line through the points of the Pareto front, in the order of their leak."""
        seeds = sorted(set.intersection(*(set(own) for name in ("each", "each_run") for own in points[name])))
        cost, gain = ([[own[seed] for seed in seeds] for own in points[name]] for name in ("each", "each_run"))
        signs = 1 if self.safer == "down" else -1, 1 if self.better == "up" else -1
        on = points[pareto_front(signs[0] * np.asarray(cost), signs[1] * np.asarray(gain))].sort_values(
            "mean", kind="stable"
        )
        if on.empty:
            return {}
        line = {"color": "#FFD54F", "lw": 6, "alpha": 0.7, "marker": "o", "markersize": 10, "markeredgewidth": 0}
        at = self._ordered(on["mean"], on["mean_run"])
        return {FRONT: axis.plot(*at, zorder=1, solid_capstyle="round", **line)[0]}

    def _line(self, axis: Any, line: pd.DataFrame, style: Mapping[str, Any]) -> Any:
        """Draw the settings of a defense, joined by a line if they have an order."""
        sides = [
            [line[f"mean{run}"] - line[f"low{run}"], line[f"high{run}"] - line[f"mean{run}"]] for run in ("", "_run")
        ]
        sides = [[end.clip(lower=0) for end in side] for side in sides]  # a divergence of 0 is rounded to below it
        xerr, yerr = self._ordered(*sides)
        x, y = self._ordered(line["mean"], line["mean_run"])
        dots_of_two(axis, *self._ordered(line["each"], line["each_run"]), style)
        axis.errorbar(x, y, xerr=xerr, yerr=yerr, fmt="none", ecolor=style["color"], alpha=0.3, lw=0.8)
        joined = style if ordered(line["setting"]) else {**style, "linestyle": ""}
        return axis.plot(x, y, **joined)[0]

    def _floor(self, axis: Any, line: pd.DataFrame) -> Any:
        """Draw the floor of the utility over the whole range of leaks, with its interval shaded."""
        across, between = (axis.axhline, axis.axhspan) if self.leak_axis == "x" else (axis.axvline, axis.axvspan)
        ((mean, low, high),) = line[["mean_run", "low_run", "high_run"]].to_numpy()  # it has one setting
        between(low, high, color=FLOOR["color"], alpha=0.08, lw=0, zorder=0)
        axis.plot(*self._ordered(line["mean"], line["mean_run"]), **CROSS)
        return across(mean, **FLOOR)

    def _second_axis(self, axis: Any, runs: pd.DataFrame) -> None:
        """The utility once more, as the share of what it is above the floor without a defense."""
        share = runs[runs["metric"] == KEPT]
        if share.empty:
            return
        if (share["skipped"] != "").all():
            axis.annotate(WORTHLESS, (1.02, 0.5), xycoords="axes fraction", rotation=270, va="center", fontsize=7)
            return
        of = runs[runs["metric"] == self.utility].set_index("defense")["mean"]
        least, worth = of[self.floor], of[UNDEFENDED] - of[self.floor]
        ways = (lambda utility: (utility - least) / worth, lambda kept: least + kept * worth)
        upright = self.leak_axis == "x"
        second = (axis.secondary_yaxis if upright else axis.secondary_xaxis)("right" if upright else "top", ways)
        (second.set_ylabel if upright else second.set_xlabel)(SHARE, fontsize=7)
        second.tick_params(labelsize=7)

    def _dress(self, axis: Any, chance: float, drawn: pd.DataFrame) -> None:
        x_label, y_label = self._ordered(self.leak_label + MIRRORED * self.two_sided, self.utility_label)
        axis.set_xlabel(x_label, fontsize=8)
        axis.set_ylabel(y_label, fontsize=8)
        for side, scale in zip("xy", self._ordered(self.leak_scale, self.utility_scale), strict=True):
            getattr(axis, f"set_{side}scale")(scale, **({"linthresh": NEARLY_0} if scale == "symlog" else {}))
        if self.leak_scale == "log":
            tick_plainly(axis.xaxis if self.leak_axis == "x" else axis.yaxis)
        at = axis.axvline if self.leak_axis == "x" else axis.axhline
        at(chance, color="#444444", lw=0.8, zorder=0)
        for side, run in zip("xy", self._ordered("", "_run"), strict=True):
            within(axis, side, drawn[f"least{run}"], drawn[f"most{run}"])
