"""table: a table as markdown, LaTeX and a picture; each number with its interval and the published value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cutlayer.core import failures
from cutlayer.core.files import replacing
from cutlayer.ledger.worth import KEPT

from . import _numbers
from ._columns import column, marked, reason_text, spread_skips, with_run, without_few, without_partial_skips
from ._figure import label
from ._grid import picture
from ._printed import with_printed
from .base import Exhibit, PlotContext, footer

NONE = "– "  # in place of a number
WITH_PAPER = "paper: as printed, in brackets ours less it"


@dataclass(frozen=True)
class Table(Exhibit):
    """Cells as text: the mean over seeds, half the width of the 95% interval where there is one.

    Below it are the attack that was chosen (that of most seeds, and how many others) and the published value. `rows`
    and `columns` are columns of the cells or `scheme`, or several, separated by commas. The reasons for cells without
    a number are below the table, each once.
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

    def draw(self, cells: pd.DataFrame, title: str, files: Mapping[str, Path], context: PlotContext) -> None:
        """Write md, tex, png and pdf."""
        cells, known = marked(cells, context.knowing)
        cells, few = without_few(cells)
        numbered = with_printed(cells, context.printed)
        text, reasons = self._text(cells, numbered)
        alone = self.scientific or self.listed
        footed = footer(cells, False, ", mean") if alone else footer(cells, False)
        parts = [known, footed, *few, "percent" if self.percent else ""]
        invented = (numbered["provenance"] == "stand-in").any()
        parts.append(WITH_PAPER + (", not where data are stand-ins" if invented else "") if len(numbered) else "")
        foot = " · ".join(filter(None, parts))
        names = [*text.index.names] if text.index.nlevels > 1 else []
        plain = (text.reset_index() if names else text).replace("\n", "; ", regex=True)
        with replacing(files["md"]) as temporary:
            below = "\n\n".join([plain.to_markdown(index=not names, disable_numparse=True), *reasons, foot])
            temporary.write_text(f"**{title}**\n\n{below}\n", encoding="utf-8")
        with replacing(files["tex"]) as temporary:
            temporary.write_text(_latex(text, ". ".join([title, *reasons, foot]) + "."), encoding="utf-8")
        picture(text, title, "\n".join([*reasons, foot]), files)

    def _text(self, cells: pd.DataFrame, numbered: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
        """The texts of the table, and the reasons to which they refer."""
        rows, columns = ([name.strip() for name in names.split(",")] for names in (self.rows, self.columns))
        shares = cells["metric"] == KEPT  # of which a reason stands in its own cell
        cells = pd.concat([spread_skips(without_partial_skips(cells[~shares])), cells[shares]])
        if self.pair:
            cells = with_run(cells, self.pair)
            cells = cells[cells["attack"] != ""]
        cells = cells.assign(**{name: column(cells, name) for name in (*rows, *columns)})
        cells = _with_failures(cells, [*rows, *columns])
        if self.largest:
            cells = cells.sort_values("mean", ascending=False, kind="stable").drop_duplicates([*rows, *columns])
            cells = cells.sort_index()
        keys = pd.MultiIndex.from_frame(cells[columns])
        worded = "metric" in columns or len(columns) > 1
        joined = [label(" ".join(map(str, key)).strip()) if worded else key[0] for key in keys]
        paper = _published_of(numbered)
        written = [self._cell(row, paper) for row in cells.to_dict("records")]
        cells = cells.assign(text=written, column_=joined)
        if self.listed:
            cells["text"] = cells.groupby([*rows, "column_"])["text"].transform(", ".join)
            cells = cells.drop_duplicates([*rows, "column_"])
        only = [name.strip() for name in self.only.split(",")]
        shown = [label(name) if worded else name for name in only] if self.only else list(dict.fromkeys(joined))
        body = cells.pivot(index=rows if len(rows) > 1 else rows[0], columns="column_", values="text")
        order = cells.drop_duplicates(rows).set_index(rows).index
        body = body.reindex(index=order, columns=shown).astype(object).fillna("").rename_axis(columns=self.columns)
        if rows[0] == "setup":
            origin = cells.drop_duplicates(rows).set_index(rows)["provenance"]
            body = pd.concat([body, origin.rename("data")], axis=1)
        if cells["scale"].nunique() > 1:
            sizes = cells.drop_duplicates(rows).set_index(rows)["scale"]
            body = pd.concat([body, sizes], axis=1)
        return _numbered(body)

    def _cell(self, row: Mapping[Any, Any], paper: Mapping[Any, Any]) -> str:
        skipped = str(row["skipped"])
        if skipped:
            return "failed" if skipped.startswith(failures.PREFIX) else NONE + reason_text(skipped)  # see the footer
        sides = [(row["metric"], row["attack"], "")] + ([(self.pair, "", "_run")] if self.pair else [])
        ours, theirs, apart = [], [], []
        where = row["setup"], row["defense"], row["setting"]
        targets = [row["attack"], *paper.get((*where, row["attack"], row["metric"]), {})]
        for metric, attack, side in sides:
            mean, low, high = (self._scaled(float(row[f"{part}{side}"])) for part in ("mean", "low", "high"))
            ours.append(self._number(metric, mean, low, high))
            found = paper.get((*where, attack, metric), {})
            value = next((found[name] for name in targets if name in found), next(iter(found.values()), None))
            theirs.append("–" if value is None else self._printed(metric, *value))
            if value is not None and row["provenance"] != "stand-in":
                apart.append(_numbers.difference(metric, mean, self._scaled(value[0]), self.digits))
        first, *others = str(row.get("by", "")).split(", ")
        by = f"\n{label(first)}{f' +{len(others)}' if others else ''}" if first else ""
        paper_note = f"\npaper {' / '.join(theirs)}" if set(theirs) != {"–"} else ""
        return " / ".join(ours) + by + paper_note + (f" ({' / '.join(apart)})" if apart else "")

    def _scaled(self, share: float) -> float:
        return 100 * share if self.percent else share

    def _printed(self, metric: str, value: float, decimals: int) -> str:
        return _numbers.printed(metric, self._scaled(value), decimals - 2 if self.percent else decimals)

    def _number(self, metric: str, mean: float, low: float, high: float) -> str:
        if self.scientific:
            return f"{mean:.1e}"
        return f"{mean:g}" if self.listed else _numbers.number(metric, mean, low, high, self.digits)


def _numbered(body: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The texts of a table with a numbered reference in place of each reason, and the reasons in that order."""
    reasons: dict[str, int] = {}
    for cell in body.to_numpy().ravel():
        if cell.startswith(NONE):
            reasons.setdefault(cell.removeprefix(NONE), len(reasons) + 1)
    texts = {f"{NONE}{reason}": f"{NONE}[{place}]" for reason, place in reasons.items()}
    return body.replace(texts), [f"[{place}] {reason}" for reason, place in reasons.items()]


def _published_of(numbered: pd.DataFrame) -> dict[Any, dict[str, tuple[float, int]]]:
    """Published values by cell: cell -> target in the paper -> value and number of decimals."""
    found: dict[Any, dict[str, tuple[float, int]]] = {}
    for row in numbered.to_dict("records"):
        key = tuple(row[name] for name in ("setup", "defense", "setting", "attack", "metric"))
        found.setdefault(key, {}).setdefault(row["target"], (row["published"], row["decimals"]))
    return found


def _latex(text: pd.DataFrame, caption: str) -> str:
    """The table as LaTeX; a cell of two lines is a `shortstack`, which needs no package."""
    safe = text.rename(index=label, columns=label).rename_axis(index=label)
    style = safe.style.format(_stacked, escape="latex").format_index(escape="latex", axis=0)
    return style.to_latex(caption=_escaped(caption), hrules=True)


def _stacked(text: object) -> str:
    cell = str(text)
    return rf"\shortstack[r]{{{cell.replace(chr(10), chr(92) * 2)}}}" if "\n" in cell else cell


def _escaped(caption: str) -> str:
    for sign in "%_&#":
        caption = caption.replace(sign, rf"\{sign}")
    return caption


def _lacking(cells: pd.DataFrame, rows: pd.DataFrame, apart: bool) -> Iterator[tuple[pd.DataFrame, str]]:
    """Each metric with those of the rows that would have it; metrics of attacks and of runs are `apart` if so asked."""
    known = cells[cells["metric"] != ""]
    of_attack, of_rows = ((table["attack"] != "") if apart else table["attack"].notna() for table in (known, rows))
    for side in (False, True):
        own = rows[of_rows == side]
        for name in dict.fromkeys(known["metric"][of_attack == side]) or [""]:
            yield own, name


def _with_failures(cells: pd.DataFrame, place: Iterable[str]) -> pd.DataFrame:
    """One row in each place where something failed; it replaces the results of the other seeds."""
    place = list(place)
    bare = (cells["skipped"] != "") & (cells["metric"] == "")
    rows = cells[bare]
    if "metric" in place:  # what failed or does not apply has none: say so for each that it would have
        rows = pd.concat([own.assign(metric=name) for own, name in _lacking(cells, rows, "attack" in place)])
    rows = rows.sort_values("skipped", key=lambda texts: ~texts.str.startswith(failures.PREFIX), kind="stable")
    rows = rows.drop_duplicates(place)
    taken = pd.MultiIndex.from_frame(cells[place]).isin(pd.MultiIndex.from_frame(rows[place]))
    return pd.concat([cells[~bare & ~taken], rows], ignore_index=True)
