"""embedding: 2-D embeddings of inputs and of learned representations, colored by the sensitive attribute.

Two panels for each setup, of coordinates that were measured: the metrics `input_x`, `input_y`, `representation_x`,
`representation_y` and `value` along the axis of points. The title has the share of points whose nearest neighbor has
their value, and the share for a random other point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.neighbors import NearestNeighbors

from cutlayer.core.errors import InputError
from cutlayer.plan.styles import by_place

from ._columns import measured, without_partial_skips
from ._figure import absent, finish, panel_title, panels
from .base import Exhibit, PlotContext, footer

SIDES = {"input": "raw input", "representation": "learned"}


@dataclass(frozen=True)
class Embedding(Exhibit):
    """Two scatter plots per setup; `point` is the column that identifies a point."""

    point: str = "point"

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path], context: PlotContext) -> None:
        """Write png and pdf.

        Raises InputError if coordinates are means over seeds: embeddings of several seeds have no common axes.
        """
        if (measured(cells)["seeds"] > 1).any():
            raise InputError("exhibit.embedding", "coordinates are of several seeds", "an embedding is of one seed")
        rows = without_partial_skips(cells)
        names = list(dict.fromkeys(rows["setup"]))
        figure, axes = panels(2 * len(names), 4 if len(names) > 1 else 2)
        for place, name in enumerate(names):
            own = rows[rows["setup"] == name]
            points = self._points(measured(own))
            for axis, (side, side_title) in zip(axes[2 * place : 2 * place + 2], SIDES.items(), strict=True):
                axis.set_title(panel_title(own, f"{name}: {side_title}"), fontsize=8)
                if points.empty:
                    absent(axis, own["skipped"])
                    continue
                at, values = points[[f"{side}_x", f"{side}_y"]].to_numpy(), points["value"].to_numpy()
                _scatter(axis, at, values, context.values.get(name, ()))
            if not points.empty:  # one for both panels
                axis.legend(fontsize=6, framealpha=0.8, handletextpad=0.1, borderpad=0.3, labelspacing=0.3)
        finish(figure, title, footer(cells), {}, files)

    def _points(self, own: pd.DataFrame) -> pd.DataFrame:
        """A row for each point, a column for each metric."""
        if own["setting"].nunique() > 1 or own["defense"].nunique() > 1:
            raise InputError("exhibit.embedding", "several defenses or settings are given", "one is drawn")
        return own.pivot(index=self.point, columns="metric", values="mean")


def _scatter(axis: Any, places: np.ndarray, values: np.ndarray, names: Sequence[str]) -> None:
    """Draw points (n, 2) colored by values (n,), the rarest on top; `names` are the names of the values."""
    present, counts = np.unique(values.astype(int), return_counts=True)
    for order, place in enumerate(np.argsort(-counts, kind="stable")):
        value, own = int(present[place]), places[values == present[place]]
        size, style = 24 if len(own) < 0.1 * len(values) else 14, by_place(value)
        name = names[value] if value < len(names) else f"value {value}"
        axis.scatter(
            *own.T, s=size, color=style["color"], marker=style["marker"], lw=0, alpha=0.7, zorder=2 + order, label=name
        )
    found, chance = agreement(places, values)
    axis.set_xlabel(f"nearest point alike: {found:.2f} (random {chance:.2f})", fontsize=7)
    axis.set(xticks=[], yticks=[])
    axis.grid(visible=False)


def agreement(places: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Share of points (n, 2) whose nearest neighbor has their value (n,), and share of all pairs with equal values."""
    nearest = NearestNeighbors(n_neighbors=1).fit(places).kneighbors(return_distance=False)[:, 0]  # not itself
    counts = np.unique(values, return_counts=True)[1]
    n = len(values)
    return float(np.mean(values[nearest] == values)), float((counts * (counts - 1)).sum() / (n * (n - 1)))
