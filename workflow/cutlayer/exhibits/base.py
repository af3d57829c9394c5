"""The contract of a way to draw an exhibit: from its summarized cells to files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from cutlayer.core import failed_cells
from cutlayer.ledger.printed import COLUMNS

from ._columns import asides

POINT = ["setup", "dataset", "provenance", "attack", "defense", "setting", "seeds"]
ENDS = {"": "mean", "_low": "low", "_high": "high"}
POINT += [f"{side}{end}" for side in "xy" for end in ENDS]


@dataclass(frozen=True)
class Beside:
    """What an exhibit may show beside its cells."""

    printed: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=COLUMNS))  # as `printed.beside` gives it
    looks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # kind -> variant -> as `looks` gives it
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)  # setup -> names of its sensitive attribute's
    knowing: Sequence[str] = ()  # attacks that use knowledge of the defense


@dataclass(frozen=True)
class Axis:
    """What one axis of a drawing shows."""

    label: str
    log: bool = False


@dataclass(frozen=True)
class Points:
    """A drawing's points, each of which can say what it is: one a row, with POINT as columns."""

    rows: pd.DataFrame
    x: Axis
    y: Axis


@dataclass(frozen=True)
class Exhibit:
    """Base of all exhibits; fields are what paper.yaml may set under `draw`."""

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path], beside: Beside) -> None:
        """Write the files of an exhibit: those of `png` and `pdf` that are asked for, tables also `md` and `tex`.

        `cells` is what `cells.summarize` returns.
        """
        raise TypeError(f"exhibit.{type(self).__name__}: has no `draw`; every exhibit defines it")

    def points(self, cells: pd.DataFrame) -> Points | None:
        """The points that the site lets say what they are; none where a picture says all.

        `cells` is what `cells.summarize` returns.
        """
        return None


def footer(cells: pd.DataFrame, reasons: bool = True, interval: str = ", 95% intervals") -> str:
    """Scale, numbers of predictions, cases and seeds, where the data come from, in one line; with `reasons`, what
    does not apply.
    """
    origin = cells.groupby("provenance", sort=False)["dataset"].unique()
    data = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in origin.items())
    count = _span(cells["n"][cells["n"] > 0])
    sizes = {str(scale): own.unique() for scale, own in cells.groupby("scale", sort=False)["setup"]}
    told = "; ".join(f"{scale}: {', '.join(own)}" if len(sizes) > 1 else scale for scale, own in sizes.items())
    parts = [f"scale {told}", f"N = {count} predictions" if count else ""]
    parts.append(f"{_span(cells['cases'])} cases a cell" if cells["cases"].max() > 1 else "")
    seeds = cells["seeds"].max()
    parts.append(f"{seeds} seeds{interval}" if seeds > 1 else "1 seed" if seeds else "")
    failed = [f"failed: {line}" for line in failed_cells.listed(cells)]
    return " · ".join([part for part in parts if part] + [data, *(asides(cells) if reasons else []), *failed])


def placed(rows: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    """Cells as POINT has them; `x` and `y` are what follows mean, low and high in the columns of each side."""
    sides = {f"{to}{end}": f"{of}{side}" for to, side in (("x", x), ("y", y)) for end, of in ENDS.items()}
    return rows.assign(**{name: rows[column] for name, column in sides.items()})[POINT]


def _span(values: Any) -> str:
    if len(values) == 0:
        return ""
    low, high = int(values.min()), int(values.max())
    return f"{low}" if low == high else f"{low} to {high}"
