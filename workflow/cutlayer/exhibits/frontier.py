"""frontier: what an attack learns against what a defense leaves of the utility, with the Pareto front.

One point for each setting, with intervals over seeds on both axes, and one line for each defense whose settings have an
order. A point is on the front if every other point, of any defense, leaks more or is less useful beyond noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from ._columns import beside as with_run
from ._columns import first_of, measured, ordered, settled
from ._figure import absent, draw_printed, finish, panel_title, panels, style, within
from ._front import front
from ._printed import AS_PRINTED, pairs
from ._seeds import dots_of_two, said, shown
from .base import Beside, Exhibit, footer

FRONT = "Pareto front, beyond noise"
MIRRORED = ", below 1/2 mirrored"


@dataclass(frozen=True)
class Frontier(Exhibit):
    """One panel for each setup and attack."""

    leak: str = "attack_utility"  # metrics of an attack, separated by commas: the first that a case has
    utility: str = "test_utility"  # a metric of a run
    leak_label: str = "leak AUC"
    utility_label: str = "test AUC"
    leak_axis: Literal["x", "y"] = "x"
    better: Literal["up", "down"] = "up"  # whether more or less of the utility's metric is better
    chance: float = 0.5  # the leak of a guess without any view; a line
    chance_metric: str = ""  # a metric of an attack that says it instead, panel by panel
    two_sided: bool = True  # a leak as far below chance counts as much, as that of an AUC does

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path], beside: Beside) -> None:
        """Write png and pdf."""
        leaks = [name.strip() for name in self.leak.split(",")]
        cells = shown(cells, leaks[0] if self.two_sided else "")
        points = settled(with_run(cells, self.utility))
        points = points[points["attack"] != ""]  # what concerns a whole run is in the footer
        guesses = points[points["metric"] == self.chance_metric].groupby(["setup", "attack"])["mean"].mean()
        points = first_of(points, leaks)
        panel = list(points[["setup", "attack"]].drop_duplicates().itertuples(index=False, name=None))
        looks = style(measured(points), "defense", "defense", beside)
        printed = pairs(beside.printed, leaks, self.utility)
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
            handles |= self._front(axis, drawn)
            for defense, line in drawn.groupby("defense", sort=False):
                handles[str(defense)] = self._line(axis, line, looks[str(defense)])
            said_here = printed[(printed["setup"] == setup) & (printed["attack"] == attack)]
            for row in said_here[said_here["defense"].isin(list(looks))].to_dict("records"):
                at = self._ordered([self._mirrored(row["leak"])], [row["utility"]])
                handles[AS_PRINTED] = draw_printed(axis, *at, looks[row["defense"]])
            self._dress(axis, guesses.get((setup, attack), self.chance), drawn)
        handles = {name: handles[name] for name in sorted(handles, key=(FRONT, AS_PRINTED).__contains__)}
        finish(figure, title, footer(cells, interval=said(cells)), handles, files)

    def _ordered(self, leak: Any, utility: Any) -> tuple[Any, Any]:
        return (leak, utility) if self.leak_axis == "x" else (utility, leak)

    def _mirrored(self, leak: float) -> float:
        return max(leak, 1 - leak) if self.two_sided else leak

    def _front(self, axis: Any, points: pd.DataFrame) -> dict[str, Any]:
        """A broad line through the points of the front, in the order of their leak."""
        seeds = sorted(set.intersection(*(set(own) for name in ("each", "each_run") for own in points[name])))
        cost, gain = ([[own[seed] for seed in seeds] for own in points[name]] for name in ("each", "each_run"))
        on = points[front(cost, gain if self.better == "up" else -np.asarray(gain))].sort_values("mean", kind="stable")
        if on.empty:
            return {}
        line = {"color": "#FFD54F", "lw": 6, "alpha": 0.7, "marker": "o", "markersize": 10, "markeredgewidth": 0}
        at = self._ordered(on["mean"], on["mean_run"])
        return {FRONT: axis.plot(*at, zorder=1, solid_capstyle="round", **line)[0]}

    def _line(self, axis: Any, line: pd.DataFrame, look: Mapping[str, Any]) -> Any:
        """The settings of a defense in the order in which it was given them, if they have one."""
        sides = [
            [line[f"mean{run}"] - line[f"low{run}"], line[f"high{run}"] - line[f"mean{run}"]] for run in ("", "_run")
        ]
        xerr, yerr = self._ordered(*sides)
        x, y = self._ordered(line["mean"], line["mean_run"])
        dots_of_two(axis, *self._ordered(line["each"], line["each_run"]), look)
        axis.errorbar(x, y, xerr=xerr, yerr=yerr, fmt="none", ecolor=look["color"], alpha=0.3, lw=0.8)
        joined = look if ordered(line["setting"]) else {**look, "linestyle": ""}
        return axis.plot(x, y, **joined)[0]

    def _dress(self, axis: Any, chance: float, drawn: pd.DataFrame) -> None:
        x_label, y_label = self._ordered(self.leak_label + MIRRORED * self.two_sided, self.utility_label)
        axis.set_xlabel(x_label, fontsize=8)
        axis.set_ylabel(y_label, fontsize=8)
        at = axis.axvline if self.leak_axis == "x" else axis.axhline
        at(chance, color="#444444", lw=0.8, zorder=0)
        for side, run in zip("xy", self._ordered("", "_run"), strict=True):
            within(axis, side, drawn[f"least{run}"], drawn[f"most{run}"])
