"""frontier: what an attack learns against what a defense leaves of the utility, with the Pareto front.

One point for each setting, with 95% intervals over seeds on both axes, and one line for each defense. A point is on
the front if no point shown, of any defense, leaks at most as much and is at least as useful, and better in one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from ._columns import beside, first_of, measured, settled
from ._figure import absent, finish, panel_title, panels, style
from ._front import front
from .base import Exhibit, footer

FRONT = "Pareto front"


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

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path]) -> None:
        """Write png and pdf."""
        points = settled(beside(cells, self.utility))
        points = points[points["attack"] != ""]  # what concerns a whole run is in the footer
        guesses = points[points["metric"] == self.chance_metric].groupby(["setup", "attack"])["mean"].mean()
        points = first_of(points, [name.strip() for name in self.leak.split(",")])
        panel = list(points[["setup", "attack"]].drop_duplicates().itertuples(index=False, name=None))
        looks = style(dict.fromkeys(measured(points)["defense"]))
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
            handles[FRONT] = self._front(axis, drawn)
            for defense, line in drawn.groupby("defense", sort=False):
                handles[str(defense)] = self._line(axis, line, looks[str(defense)])
            self._dress(axis, guesses.get((setup, attack), self.chance))
        finish(figure, title, footer(cells), handles, files)

    def _ordered(self, leak: Any, utility: Any) -> tuple[Any, Any]:
        return (leak, utility) if self.leak_axis == "x" else (utility, leak)

    def _front(self, axis: Any, points: pd.DataFrame) -> Any:
        """A broad line through the points of the front, in the order of their leak."""
        leak, utility = points["mean"].to_numpy(), points["mean_run"].to_numpy()
        cost = self.chance + np.abs(leak - self.chance) if self.two_sided else leak
        on = np.flatnonzero(front(cost, utility if self.better == "up" else -utility))
        on = on[np.argsort(cost[on], kind="stable")]
        line = {"color": "#FFD54F", "lw": 6, "alpha": 0.7, "marker": "o", "markersize": 10, "markeredgewidth": 0}
        return axis.plot(*self._ordered(leak[on], utility[on]), zorder=1, solid_capstyle="round", **line)[0]

    def _line(self, axis: Any, line: pd.DataFrame, look: Mapping[str, Any]) -> Any:
        """The settings of a defense in the order in which it was given them."""
        sides = [
            [line[f"mean{run}"] - line[f"low{run}"], line[f"high{run}"] - line[f"mean{run}"]] for run in ("", "_run")
        ]
        xerr, yerr = self._ordered(*sides)
        x, y = self._ordered(line["mean"], line["mean_run"])
        axis.errorbar(x, y, xerr=xerr, yerr=yerr, fmt="none", ecolor=look["color"], alpha=0.45, lw=1)
        return axis.plot(x, y, **look)[0]

    def _dress(self, axis: Any, chance: float) -> None:
        x_label, y_label = self._ordered(self.leak_label, self.utility_label)
        axis.set_xlabel(x_label, fontsize=8)
        axis.set_ylabel(y_label, fontsize=8)
        at = axis.axvline if self.leak_axis == "x" else axis.axhline
        at(chance, color="#444444", lw=0.8, zorder=0)
