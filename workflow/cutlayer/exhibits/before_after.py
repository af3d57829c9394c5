"""before_after: the leak of each scheme to a first set of attacks and to all attacks, and its guaranteed bound.

A hollow mark is the strongest attack of the first set, a filled one the strongest of the last, with its interval. On
the right are the attacks that were chosen in most seeds, the first set's above, one where both are the same. A cross is
the defense's own draw for the labels, scored as an attack. The line at the left is chance, the dashed one the leak of
the undefended run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.lines import Line2D

from cutlayer.plan.sweeps import AS_DRAWN, UNDEFENDED

from ._columns import column, marked, measured
from ._figure import absent, finish, label, panel_title, panels, series_styles
from .base import Exhibit, PlotContext, footer

NEUTRAL = "#444444"
HOLLOW: dict[str, Any] = {"markerfacecolor": "white", "markeredgewidth": 1.3}
PLAIN: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 6}
CROSS: dict[str, Any] = {"linestyle": "", "marker": "x", "markersize": 7, "color": "#000000", "zorder": 6}
EACH, ROOM = 0.2, 2.1  # inches that a scheme needs, for its two names, and that a panel has
LEAST = 8  # inches, for a panel between names on both sides
TICK: dict[str, Any] = {
    "linestyle": "",
    "marker": "|",
    "markersize": 13,
    "markeredgewidth": 1.6,
    "color": "#000000",
    "zorder": 4,
}


@dataclass(frozen=True)
class BeforeAfter(Exhibit):
    """One panel for each setup with a leak to one of both sets of attacks, with the same schemes as rows."""

    before: str = "attacks_of_the_papers"  # sets of attacks
    after: str = "any_attack"
    leak: str = "leak_auc_mean"  # a metric of an attack
    bound: str = "promise"  # a metric of a run: the AUC that its defense guarantees
    x_label: str = "worst leak AUC"
    chance: float = 0.5  # the leak of a guess without any view

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path], context: PlotContext) -> None:
        """Write png and pdf."""
        cells, known = marked(cells.assign(scheme=column(cells, "scheme")), context.knowing)
        cells = cells[cells["setup"].isin(self._shown(cells))]
        schemes_only = cells[cells["defense"] != ""]
        schemes, names = list(dict.fromkeys(schemes_only["scheme"])), list(dict.fromkeys(cells["setup"]))
        styles = series_styles(schemes_only, "scheme", "scheme", context)
        columns = 2 if len(names) in (2, 4) else min(3, len(names))
        figure, axes = panels(len(names), columns)
        width, height = figure.get_size_inches()
        more = -(-len(names) // columns) * max(0, EACH * len(schemes) - ROOM)
        figure.set_size_inches(max(width, LEAST), height + more)
        for place, (axis, name) in enumerate(zip(axes, names, strict=True)):
            own = schemes_only[schemes_only["setup"] == name]
            axis.set_title(panel_title(cells[cells["setup"] == name], name), fontsize=9)
            if measured(own).empty:
                absent(axis, cells.loc[cells["setup"] == name, "skipped"])
                continue
            for row, scheme in enumerate(schemes):
                self._row(axis, row, own[own["scheme"] == scheme], styles[scheme]["color"])
            self._lines(axis, own)
            shown = [label(scheme) for scheme in schemes] if place % columns == 0 else []
            axis.set_yticks(range(len(schemes)), shown or [""] * len(schemes), fontsize=8)
            axis.tick_params(axis="y", length=0)
            axis.set_ylim(len(schemes) - 0.5, -0.5)
            axis.set_xlabel(self.x_label, fontsize=8)
        legend = self._legend(bool((schemes_only["attack"] == AS_DRAWN).any()))
        finish(figure, title, " · ".join(filter(None, [known, footer(cells)])), legend, files)

    def _shown(self, cells: pd.DataFrame) -> set[str]:
        """The setups with a leak to one of both sets, or without any number, of which it is told why; or else all."""
        numbers = measured(cells)
        leaks = numbers[numbers["attack"].isin([self.before, self.after]) & (numbers["metric"] == self.leak)]
        return set(leaks["setup"]) | (set(cells["setup"]) - set(numbers["setup"])) or set(cells["setup"])

    def _row(self, axis: Any, row: int, own: pd.DataFrame, color: str) -> None:
        """Draw the marks of a scheme that have numbers."""
        found = {name: self._cell(own, name, self.leak) for name in (self.before, self.after)}
        ends = [cell["mean"] for cell in found.values() if cell is not None]
        axis.plot(ends, [row] * len(ends), color=color, lw=1.6, alpha=0.45, label="_way")
        if (cell := found[self.before]) is not None:
            axis.plot([cell["mean"]], [row], color=color, label="_before", **PLAIN, **HOLLOW)
        if (cell := found[self.after]) is not None:
            axis.plot([cell["low"], cell["high"]], [row, row], color=color, lw=0.8, label="_interval")
            axis.plot([cell["mean"]], [row], color=color, label="_after", clip_on=False, zorder=5, **PLAIN)
        by = [label(str(cell.get("by", "")).split(", ")[0]) for cell in found.values() if cell is not None]
        names, at = "\n".join(dict.fromkeys(by)), axis.get_yaxis_transform()
        axis.text(1.03, row, names, transform=at, va="center", fontsize=6, linespacing=0.95, color=NEUTRAL)
        if (cell := self._cell(own, "", self.bound)) is not None:
            axis.plot([cell["mean"]], [row], label="_bound", **TICK)
        if (cell := self._cell(own, AS_DRAWN, self.leak)) is not None:
            axis.plot([cell["mean"]], [row], label="_drawn", **CROSS)

    def _lines(self, axis: Any, own: pd.DataFrame) -> None:
        axis.axvline(self.chance, color=NEUTRAL, lw=0.8, zorder=0, label="_chance")
        if (none := self._cell(own[own["defense"] == UNDEFENDED], self.after, self.leak)) is not None:
            axis.axvline(none["mean"], color="#000000", lw=0.9, linestyle=(0, (4, 2)), zorder=0, label="_undefended")

    def _cell(self, own: pd.DataFrame, attack: str, metric: str) -> Mapping[Any, Any] | None:
        """The cell of a scheme with these values; None if it has no number."""
        found = measured(own)
        found = found[(found["attack"] == attack) & (found["metric"] == metric)]
        return None if found.empty else found.iloc[0].to_dict()

    def _legend(self, drawn: bool) -> dict[str, Any]:
        return {
            f"worst of {label(self.before)}": Line2D([], [], color=NEUTRAL, **PLAIN, **HOLLOW),
            f"worst of {label(self.after)}": Line2D([], [], color=NEUTRAL, **PLAIN),
            "bound": Line2D([], [], **TICK | {"markersize": 9}),
            **({"as drawn": Line2D([], [], **CROSS)} if drawn else {}),
            "guess": Line2D([], [], color=NEUTRAL, lw=0.8),
            "undefended": Line2D([], [], color="#000000", lw=0.9, linestyle=(0, (4, 2))),
        }
