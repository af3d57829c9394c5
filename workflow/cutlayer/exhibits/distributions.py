"""distributions: cumulative distributions of a quantity for positives and negatives, one panel per setting.

A quantity `q` (`declared.OF_A_MODEL`) has the metrics `q_positive` and `q_negative` along the axis `quantile`: the
quantile functions, averaged over seeds. `leak_auc_of_q`, the AUC with which it separates the two classes, is in the
panel's title.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from cutlayer.metrics import declared
from cutlayer.plan.styles import by_place

from ._columns import measured, without_partial_skips
from ._figure import absent, finish, label, panel_title, panels, within
from ._printed import with_printed
from ._seeds import with_limits
from .base import Exhibit, PlotContext, footer

CLASSES = {"positive": "-", "negative": "--"}
SYMBOLS = {
    "residual": r"$|\tilde{p} - y|$",
    "slope_norm": r"$\Vert\nabla_a h\Vert_2$",
    "gradient_norm": r"$\Vert g \Vert_2$",
}


@dataclass(frozen=True)
class Distributions(Exhibit):
    """A row of panels for each setup and quantity, a column for each setting."""

    x_scale: Literal["linear", "log"] = "linear"

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path], context: PlotContext) -> None:
        """Write png and pdf."""
        leaks = cells[cells["metric"].isin(map(_leak_of, declared.OF_A_MODEL))]  # their intervals are in the titles
        cells = without_partial_skips(with_limits(cells))
        metrics = dict.fromkeys(measured(cells)["metric"])
        known = {f"{quantity}_positive": quantity for quantity in declared.OF_A_MODEL}
        quantities = [known[name] for name in metrics if name in known]
        settings, setups = list(dict.fromkeys(cells["setting"])), list(dict.fromkeys(cells["setup"]))
        rows = [(setup, quantity) for setup in setups for quantity in quantities]
        figure, axes = panels(len(rows) * len(settings), len(settings))
        handles: dict[str, Any] = {}
        places = [(*row, setting) for row in rows for setting in settings]
        for axis, (setup, quantity, setting) in zip(axes, places, strict=True):
            own = cells[(cells["setup"] == setup) & cells["setting"].isin([setting, ""])]
            drawn = measured(own[own["setting"] == setting])
            here = leaks[(leaks["setup"] == setup) & (leaks["setting"] == setting)]
            heading = f"{panel_title(own, setup)}, {setting}"
            axis.set_title(f"{heading}\n{self._leak(here, quantity, context.printed)}".strip(), fontsize=8)
            if drawn.empty and not measured(cells[cells["setup"] == setup]).empty:
                axis.set_visible(False)  # the footer says why
                continue
            if drawn.empty:
                absent(axis, own["skipped"][own["skipped"] != ""])
                continue
            for number, name in enumerate(CLASSES):
                curve = drawn[drawn["metric"] == f"{quantity}_{name}"].sort_values("quantile")
                handles[f"{name}s"] = self._curve(axis, curve, by_place(number)["color"], CLASSES[name])
            of_it = drawn[drawn["metric"].isin([f"{quantity}_{name}" for name in CLASSES])]
            axis.set(xscale=self.x_scale, ylabel="cumulative share")
            within(axis, "x", of_it["least"], of_it["most"])
            axis.set_xlabel(SYMBOLS.get(quantity, label(quantity)), fontsize=9)
        finish(figure, title, footer(cells), handles, files)

    def _leak(self, drawn: pd.DataFrame, quantity: str, printed: pd.DataFrame) -> str:
        found = drawn[drawn["metric"] == _leak_of(quantity)]
        if found.empty:
            return ""
        mean, low, high = found[["mean", "low", "high"]].iloc[0]
        published = with_printed(found, printed)["published"]
        paper = f" (paper {published.iloc[0]:g})" if len(published) else ""
        return f"leak AUC {mean:.3f}" + ("" if math.isnan(low) else f" ± {(high - low) / 2:.3f}") + paper

    def _curve(self, axis: Any, curve: pd.DataFrame, color: str, dashes: str) -> Any:
        axis.fill_betweenx(curve["quantile"], curve["low"], curve["high"], color=color, alpha=0.15, lw=0)
        return axis.plot(curve["mean"], curve["quantile"], color=color, linestyle=dashes, lw=1.3)[0]


def _leak_of(quantity: str) -> str:
    """Name of the metric for the AUC with which a quantity separates the two classes."""
    return f"leak_auc_of_{quantity}"
