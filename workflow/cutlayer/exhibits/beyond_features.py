"""beyond_features: what features alone predict of the labels (gray), and what releases leak beyond them (black).

Gray: the features' AUC as a line, that of the strongest attack as a hollow mark, and a bar for the largest AUC that a
bound on the label of a row leaves to whoever has the features, or for a bound on AUCs across rows. Black: the attack's
adjusted AUC with its interval, the bound on the label of a row as a bar, the defense's own draw as a cross. Below each
panel is the self-test: the features' own adjusted AUC.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.lines import Line2D

from cutlayer.plan.sweeps import AS_DRAWN

from ._figure import label
from .before_after import CROSS, HOLLOW, NEUTRAL, PLAIN, TICK, BeforeAfter

GRAY, BLACK = "#8c8c8c", "#000000"
BELOW, WIDTH = -28, 34  # points below a panel, under its label; letters
SMALL: dict[str, Any] = {"fontsize": 7, "color": NEUTRAL}


@dataclass(frozen=True)
class BeyondFeatures(BeforeAfter):
    """One panel for each setup, with the same schemes as rows."""

    after: str = "every_epoch"
    adjusted: str = "leak_auc_adjusted"
    alone: str = "features_auc"  # metrics of a run
    test: str = "features_auc_adjusted"
    with_features: str = "promise_with_features"
    x_label: str = "AUC"

    def _row(self, axis: Any, row: int, own: pd.DataFrame, color: str) -> None:
        """Draw the marks of a scheme that have numbers."""
        of_label = self._cell(own, "", self.with_features)
        if (cell := of_label or self._cell(own, "", self.bound)) is not None:
            axis.plot([cell["mean"]], [row], label="_with_features", **TICK | {"color": GRAY})
        if of_label and (cell := self._cell(own, "", self.bound)) is not None:
            axis.plot([cell["mean"]], [row], label="_bound", **TICK)
        if (cell := self._cell(own, self.after, self.leak)) is not None:
            axis.plot([cell["mean"]], [row], color=GRAY, label="_plain", **PLAIN, **HOLLOW)
        if (cell := self._cell(own, AS_DRAWN, self.adjusted)) is not None:
            axis.plot([cell["mean"]], [row], label="_drawn", **CROSS)
        if (cell := self._cell(own, self.after, self.adjusted)) is not None:
            axis.plot([cell["low"], cell["high"]], [row, row], color=BLACK, lw=0.8, label="_interval")
            axis.plot([cell["mean"]], [row], color=BLACK, label="_adjusted", clip_on=False, zorder=5, **PLAIN)
            by, at = label(str(cell.get("by", "")).split(", ")[0]), axis.get_yaxis_transform()
            axis.text(1.03, row, by, transform=at, va="center", fontsize=6, color=NEUTRAL)

    def _lines(self, axis: Any, own: pd.DataFrame) -> None:
        axis.axvline(self.chance, color=NEUTRAL, lw=0.8, zorder=0, label="_chance")
        if (cell := self._cell(own, "", self.alone)) is not None:
            axis.axvline(cell["mean"], color=GRAY, lw=2.2, zorder=0, label="_alone")
        if (cell := self._cell(own, "", self.test)) is not None:
            text = f"self-test {cell['mean']:.3f} ({cell['low']:.3f} to {cell['high']:.3f})"
            failed = own[(own["metric"] == self.adjusted) & (own["attack"] == "") & (own["skipped"] != "")]["skipped"]
            text = "\n".join([text, *textwrap.wrap(failed.iloc[0], WIDTH)]) if len(failed) else text
            at: dict[str, Any] = {"xytext": (0, BELOW), "xycoords": "axes fraction", "textcoords": "offset points"}
            axis.annotate(text, (0.5, 0), ha="center", va="top", **at, **SMALL)

    def _legend(self, drawn: bool) -> dict[str, Any]:
        return {
            "features alone": Line2D([], [], color=GRAY, lw=2.2),
            f"worst of {label(self.after)}": Line2D([], [], color=GRAY, **PLAIN, **HOLLOW),
            "its bound": Line2D([], [], **TICK | {"markersize": 9, "color": GRAY}),
            "beyond features": Line2D([], [], color=BLACK, **PLAIN),
            "bound on the label of a row": Line2D([], [], **TICK | {"markersize": 9}),
            **({"as drawn": Line2D([], [], **CROSS)} if drawn else {}),
            "chance": Line2D([], [], color=NEUTRAL, lw=0.8),
        }
