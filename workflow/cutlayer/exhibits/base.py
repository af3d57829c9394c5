"""Contract of a plot or table: it turns the summarized cells of an exhibit into files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from cutlayer.core import failed_cells
from cutlayer.ledger.printed import COLUMNS

from ._columns import inapplicable

POINT = ["setup", "dataset", "provenance", "attack", "defense", "setting", "seeds"]
ENDS = {"": "mean", "_low": "low", "_high": "high"}
POINT += [f"{side}{end}" for side in "xy" for end in ENDS]


@dataclass(frozen=True)
class PlotContext:
    """What a plot needs besides its cells: published values, styles, names of attribute values, adaptive attacks."""

    # See `ledger.printed.published_cells`.
    printed: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=COLUMNS))
    styles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # kind -> variant -> style, see `plan.styles`
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)  # setup -> names of the attribute's values
    knowing: Sequence[str] = ()  # adaptive attacks: they use knowledge of the defense


@dataclass(frozen=True)
class Axis:
    """Label and scaling of one axis."""

    label: str
    log: bool = False


@dataclass(frozen=True)
class Points:
    """Points of a plot for the site's tooltips: a row each, with POINT as columns."""

    rows: pd.DataFrame
    x: Axis
    y: Axis


@dataclass(frozen=True)
class Exhibit:
    """Base class of all plots and tables; its fields are the options that paper.yaml may set under `draw`."""

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path], context: PlotContext) -> None:
        """Write the files of an exhibit: the requested ones of `png` and `pdf`; tables also `md` and `tex`.

        `cells` is the result of `ledger.cells.summarize`.
        """
        raise TypeError(f"exhibit.{type(self).__name__}: has no `draw`; every exhibit defines it")

    def points(self, cells: pd.DataFrame) -> Points | None:
        """Points that have a tooltip on the site; None if the plot has none. `cells` is as in `draw`."""
        return None


def footer(cells: pd.DataFrame, reasons: bool = True, interval: str = ", 95% intervals") -> str:
    """Footer of a figure: scale, counts of predictions, cases, seeds, provenance; with `reasons`, what is missing."""
    origin = cells.groupby("provenance", sort=False)["dataset"].unique()
    data = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in origin.items())
    count = _span(cells["n"][cells["n"] > 0])
    sizes = {str(scale): own.unique() for scale, own in cells.groupby("scale", sort=False)["setup"]}
    text = "; ".join(f"{scale}: {', '.join(own)}" if len(sizes) > 1 else scale for scale, own in sizes.items())
    parts = [f"scale {text}", f"N = {count} predictions" if count else ""]
    parts.append(f"{_span(cells['cases'])} cases a cell" if cells["cases"].max() > 1 else "")
    seeds = cells["seeds"].max()
    parts.append(f"{seeds} seeds{interval}" if seeds > 1 else "1 seed" if seeds else "")
    failed = [f"failed: {line}" for line in failed_cells.listed(cells)]
    return " · ".join([part for part in parts if part] + [data, *(inapplicable(cells) if reasons else []), *failed])


def placed(rows: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    """Cells with the columns POINT; `x` and `y` are the suffixes of mean, low and high on the two axes."""
    sides = {f"{to}{end}": f"{of}{side}" for to, side in (("x", x), ("y", y)) for end, of in ENDS.items()}
    return rows.assign(**{name: rows[column] for name, column in sides.items()})[POINT]


def _span(values: Any) -> str:
    if len(values) == 0:
        return ""
    low, high = int(values.min()), int(values.max())
    return f"{low}" if low == high else f"{low} to {high}"
