"""table: rows by columns as markdown, LaTeX and a picture; every number with its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import failures
from ..artifacts import replacing
from ._figure import METADATA, label
from .base import Exhibit, footer

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Table(Exhibit):
    """Cells as text: the mean over seeds, half the width of the 95% interval where there is one."""

    rows: str = "setup"
    columns: str = "metric"
    digits: int = 3
    scientific: bool = False
    largest: bool = False  # of several cells at one place show the largest; otherwise they are an error

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path]) -> None:
        """Write md, tex, png and pdf."""
        text = self._text(cells)
        foot = footer(cells)
        with replacing(files["md"]) as temporary:
            temporary.write_text(f"**{title}**\n\n{text.to_markdown()}\n\n{foot}\n")
        with replacing(files["tex"]) as temporary:
            safe = text.rename(index=label, columns=label)
            style = safe.style.format(escape="latex").format_index(escape="latex", axis=0)
            temporary.write_text(style.to_latex(caption=f"{title}. {foot}.".replace("%", r"\%"), hrules=True))
        self._picture(text, title, foot, files)

    def _text(self, cells: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        cells = self._with_failures(cells)
        if self.largest:
            cells = cells.sort_values("mean", ascending=False, kind="stable").drop_duplicates([self.rows, self.columns])
            cells = cells.sort_index()
        written = cells.assign(
            text=[
                self._cell(*row)
                for row in zip(cells["mean"], cells["low"], cells["high"], cells["skipped"], strict=True)
            ],
            origin=cells["provenance"],
        )
        body = written.pivot(index=self.rows, columns=self.columns, values="text")
        body = body.reindex(index=list(cells[self.rows].unique()), columns=list(cells[self.columns].unique()))
        origin = written.drop_duplicates(self.rows).set_index(self.rows)["provenance"] if self.rows == "setup" else None
        return body if origin is None else pd.concat([body, origin.rename("data")], axis=1)

    def _with_failures(self, cells: pd.DataFrame) -> pd.DataFrame:
        """One row in each place where something failed, in place of what there is of other seeds."""
        import pandas as pd

        place, failed = [self.rows, self.columns], failures.among(cells)
        rows = cells[failed]
        if "metric" in place:  # what failed has none: say so for each that it would have
            names = [name for name in dict.fromkeys(cells["metric"]) if name] or [""]
            rows = pd.concat([rows.assign(metric=name) for name in names])
        rows = rows.drop_duplicates(place)
        taken = pd.MultiIndex.from_frame(cells[place]).isin(pd.MultiIndex.from_frame(rows[place]))
        return pd.concat([cells[~failed & ~taken], rows], ignore_index=True)

    def _cell(self, mean: float, low: float, high: float, skipped: str) -> str:
        if skipped:
            return skipped if skipped.startswith(failures.PREFIX) else f"does not apply: {skipped}"
        if self.scientific:
            return f"{mean:.1e}"
        number = f"{mean:,.0f}" if float(mean).is_integer() and abs(mean) >= 1 else f"{mean:.{self.digits}f}"
        return number if math.isnan(low) or low == high else f"{number} ± {(high - low) / 2:.{self.digits}f}"

    def _picture(self, text: pd.DataFrame, title: str, foot: str, files: Mapping[str, Path]) -> None:
        import matplotlib as mpl

        mpl.use("Agg")
        import matplotlib.pyplot as plt

        size: Any = (1.6 + 1.5 * len(text.columns), 0.9 + 0.3 * (len(text) + 1))
        figure, axis = plt.subplots(figsize=size)
        axis.axis("off")
        names = [label(row) for row in text.index]
        grid = axis.table(
            text.to_numpy().tolist(),
            rowLabels=names,
            colLabels=[label(c) for c in text.columns],
            loc="center",
        )
        grid.auto_set_font_size(False)
        grid.set_fontsize(9)
        grid.scale(1, 1.35)
        axis.set_title(title, fontsize=10)
        figure.text(0.5, 0.02, foot, ha="center", fontsize=7, color="#444444", wrap=True)
        for kind in ("png", "pdf"):
            with replacing(files[kind]) as temporary:
                figure.savefig(temporary, format=kind, dpi=150, bbox_inches="tight", metadata=METADATA[kind])
        plt.close(figure)
