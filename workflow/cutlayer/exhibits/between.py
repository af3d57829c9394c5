"""between: what surely leaks under each scheme, and what it guarantees; the truth is in between.

Below the name of a scheme there is a bar for each setup. It goes, in grey, from the lower end of what was measured, a
thick line, to the bound, a hollow one; without a bound it goes on to the end. The dot is the mean of the strongest
attack, at chance where it is below. A bound that is refuted is to the left of what was measured, and the bar between
them is black.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from cutlayer.ledger.audit import MEASURED, PROMISE, REFUTED, SCORE
from cutlayer.plan.sweeps import UNDEFENDED

from ._columns import measured
from ._figure import finish, label, panels
from .base import Exhibit, PlotContext, footer

CHANCE, ALL = 0.5, 1.0
TICKS = {0.5: "0.5\nchance", 0.6: "0.6", 0.7: "0.7", 0.8: "0.8", 0.9: "0.9"}
NEAR = 0.02  # of an AUC: what is measured attains the bound
WIDTH, ROW, HEAD = 5.4, 0.23, 1.9  # inches of the figure, of a bar, and of title, axis and legend
GAP = 0.6  # between schemes, in bars
HEIGHT = 0.34  # of a bar
BLACK, GREY, PALE = "#000000", "#c8c8c8", "#777777"
DOT: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 5, "color": BLACK, "zorder": 5}
END: dict[str, Any] = {"color": BLACK, "zorder": 4, "solid_capstyle": "butt"}


@dataclass(frozen=True)
class Between(Exhibit):
    """One panel, narrow enough for a small screen: schemes from top to bottom, and in each of them the setups."""

    among: str = "any_attack"  # the set of attacks
    setups: str = ""  # those that are drawn, with commas between them, where they were run; empty: all
    x_label: str = "AUC of label inference"
    most: str = "every label"  # what is inferred at an AUC of 1

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path], context: PlotContext) -> None:
        """Write png and pdf."""
        few = cells[cells["setup"].isin(self.setups.split(", "))]
        cells = cells if few.empty else few
        own = measured(cells[cells["defense"] != ""])
        schemes = list(dict.fromkeys(zip(own["defense"], own["setting"], strict=True)))
        names = list(dict.fromkeys(cells["setup"]))
        data = dict(zip(cells["setup"], cells["dataset"], strict=True))
        apart = data if len({*data.values()}) == len(names) else {name: name for name in names}
        figure, (axis,) = panels(1)
        step, middle = len(names) + GAP, (len(names) - 1) / 2
        figure.set_size_inches(WIDTH, HEAD + ROW * step * len(schemes))
        for i, pair in enumerate(schemes):
            for j, name in enumerate(names):
                there = own[(own[["setup", "defense", "setting"]] == [name, *pair]).all(axis=1)]
                self._row(axis, i * step + j, there, label(apart[name]))
        axis.axvline(CHANCE, color=PALE, lw=1.2, zorder=0, label="_chance")
        centers = [i * step + middle for i in range(len(schemes))]
        axis.set_yticks(centers, [_named(*pair) for pair in schemes], fontsize=9)
        axis.set_xticks([*TICKS, ALL], [*TICKS.values(), f"1\n{self.most}"], fontsize=10)
        axis.tick_params(axis="y", length=0)
        axis.set(ylim=(len(schemes) * step - GAP - 0.3, -0.8), xlim=(CHANCE - 0.02, ALL + 0.01))
        axis.set_xlabel(self.x_label, fontsize=10)
        axis.grid(False)
        finish(figure, title, footer(cells), _legend(), files)

    def _row(self, axis: Any, row: float, own: pd.DataFrame, name: str) -> None:
        least, leak, refuted = (self._value(own, self.among, metric) for metric in (MEASURED, SCORE, REFUTED))
        bound = self._value(own, "", PROMISE)
        if least is None or leak is None:
            self._say(axis, row, f"{name}: not run", color=PALE)
            return
        end = ALL if bound is None else bound
        bar = {"height": HEIGHT, "color": BLACK if refuted else GREY, "zorder": 1, "label": "_between"}
        axis.barh(row, end - least, left=least, **bar)
        axis.plot([least, least], [row - HEIGHT, row + HEIGHT], lw=3, label="_measured", **END)
        if bound is not None:
            axis.plot([bound, bound], [row - HEIGHT, row + HEIGHT], lw=4, label="_bound", **END)
            white = END | {"color": "#ffffff"}
            axis.plot([bound, bound], [row - HEIGHT + 0.1, row + HEIGHT - 0.1], lw=2, label="_inside", **white)
        axis.plot([max(leak, CHANCE)], [row], label="_attack", clip_on=False, **DOT)
        self._say(axis, row, f"{name}: {_said(least, bound, bool(refuted))}", weight="bold" if refuted else "normal")

    def _say(self, axis: Any, row: float, text: str, **style: str) -> None:
        axis.text(1.02, row, text, transform=axis.get_yaxis_transform(), va="center", fontsize=8, **style)

    def _value(self, own: pd.DataFrame, attack: str, metric: str) -> float | None:
        """The number of a scheme; None if there is none."""
        found = own[(own["attack"] == attack) & (own["metric"] == metric)]
        return None if found.empty else float(found["mean"].iloc[0])


def _named(defense: str, setting: str) -> str:
    """A defense with its setting below."""
    return "no defense" if defense == UNDEFENDED else f"{label(defense)}\n{label(setting)}".strip()


def _said(least: float, bound: float | None, refuted: bool) -> str:
    if bound is None:
        return "no bound"
    if least > bound:
        return "refuted" if refuted else "above alone"  # not when all bounds are tested at once
    return "attained" if bound - least <= NEAR else f"open: {bound - least:.2f}"


def _legend() -> dict[str, Any]:
    return {
        "surely leaks (95%)": Line2D([], [], linestyle="", marker="|", markersize=11, markeredgewidth=3.5, color=BLACK),
        "guaranteed at most": Line2D(
            [], [], linestyle="", marker="s", markersize=8, markerfacecolor="#ffffff", markeredgecolor=BLACK
        ),
        "the truth is in here": Patch(color=GREY),
        "best attack": Line2D([], [], **DOT),
        "refuted": Patch(color=BLACK),
    }
