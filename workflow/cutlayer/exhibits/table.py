"""table: rows by columns as markdown, LaTeX and a picture; every number with its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cutlayer.core import failures
from cutlayer.core.files import replacing

from ._columns import beside, column, settled, spread
from ._figure import label
from ._grid import picture
from .base import Exhibit, footer


@dataclass(frozen=True)
class Table(Exhibit):
    """Cells as text: the mean over seeds, half the width of the 95% interval where there is one.

    `rows` and `columns` are columns of the cells or `scheme`, or several, separated by commas.
    """

    rows: str = "setup"
    columns: str = "metric"
    pair: str = ""  # a metric of the run, written after each number of an attack on it
    percent: bool = False
    digits: int = 3
    scientific: bool = False
    largest: bool = False  # of several cells at one place show the largest; otherwise they are an error
    listed: bool = False  # of several cells at one place show all, as they are written
    only: str = ""  # of the columns these, in this order, separated by commas; empty: all

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path]) -> None:
        """Write md, tex, png and pdf."""
        text = self._text(cells)
        foot = footer(cells, reasons=False) + (" · percent" if self.percent else "")
        names = [*text.index.names] if text.index.nlevels > 1 else []
        plain = text.reset_index() if names else text
        with replacing(files["md"]) as temporary:
            temporary.write_text(f"**{title}**\n\n{plain.to_markdown(index=not names)}\n\n{foot}\n")
        with replacing(files["tex"]) as temporary:
            safe = text.rename(index=label, columns=label).rename_axis(index=label)
            style = safe.style.format(escape="latex").format_index(escape="latex", axis=0)
            temporary.write_text(style.to_latex(caption=f"{title}. {foot}.".replace("%", r"\%"), hrules=True))
        picture(text, title, foot, files)

    def _text(self, cells: pd.DataFrame) -> pd.DataFrame:
        rows, columns = ([name.strip() for name in names.split(",")] for names in (self.rows, self.columns))
        cells = spread(settled(cells))
        if self.pair:
            cells = beside(cells, self.pair)
            cells = cells[cells["attack"] != ""]
        cells = cells.assign(**{name: column(cells, name) for name in (*rows, *columns)})
        cells = _with_failures(cells, [*rows, *columns])
        if self.largest:
            cells = cells.sort_values("mean", ascending=False, kind="stable").drop_duplicates([*rows, *columns])
            cells = cells.sort_index()
        keys = pd.MultiIndex.from_frame(cells[columns])
        several = len(columns) > 1
        joined = [label(" ".join(map(str, key)).strip()) if several else key[0] for key in keys]
        written = cells.assign(text=[self._cell(row) for row in cells.to_dict("records")], column_=joined)
        if self.listed:
            written["text"] = written.groupby([*rows, "column_"])["text"].transform(", ".join)
            written = written.drop_duplicates([*rows, "column_"])
        only = [name.strip() for name in self.only.split(",")]
        shown = [label(name) if several else name for name in only] if self.only else list(dict.fromkeys(joined))
        body = written.pivot(index=rows if len(rows) > 1 else rows[0], columns="column_", values="text")
        order = written.drop_duplicates(rows).set_index(rows).index
        body = body.reindex(index=order, columns=shown).astype(object).fillna("").rename_axis(columns=self.columns)
        if rows[0] != "setup":
            return body
        origin = written.drop_duplicates(rows).set_index(rows)["provenance"]
        return pd.concat([body, origin.rename("data")], axis=1)

    def _cell(self, row: Mapping[Any, Any]) -> str:
        skipped = str(row["skipped"])
        if skipped:
            return skipped if skipped.startswith(failures.PREFIX) else f"does not apply: {skipped}"
        sides = ["", "_run"] if self.pair else [""]
        return " / ".join(
            self._number(*(float(row[f"{part}{side}"]) for part in ("mean", "low", "high"))) for side in sides
        )

    def _number(self, mean: float, low: float, high: float) -> str:
        if self.scientific:
            return f"{mean:.1e}"
        if self.listed:
            return f"{mean:g}"
        if self.percent:
            mean, low, high = 100 * mean, 100 * low, 100 * high
        number = f"{mean:,.0f}" if mean.is_integer() and abs(mean) >= 1 else f"{mean:.{self.digits}f}"
        return number if math.isnan(low) or low == high else f"{number} ± {(high - low) / 2:.{self.digits}f}"


def _with_failures(cells: pd.DataFrame, place: list[str]) -> pd.DataFrame:
    """One row in each place where something failed, in place of what there is of other seeds."""
    bare = (cells["skipped"] != "") & (cells["metric"] == "")
    rows = cells[bare]
    if "metric" in place:  # what failed or does not apply has none: say so for each that it would have
        names = [name for name in dict.fromkeys(cells["metric"]) if name] or [""]
        rows = pd.concat([rows.assign(metric=name) for name in names])
    rows = rows.sort_values("skipped", key=lambda texts: ~texts.str.startswith(failures.PREFIX), kind="stable")
    rows = rows.drop_duplicates(place)
    taken = pd.MultiIndex.from_frame(cells[place]).isin(pd.MultiIndex.from_frame(rows[place]))
    return pd.concat([cells[~bare & ~taken], rows], ignore_index=True)
