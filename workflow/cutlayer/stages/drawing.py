"""Drawing: the csv, picture and table files of an exhibit, from its cells."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from cutlayer.exhibits.base import PlotContext
from cutlayer.ledger import audit, cells, printed, scales, worth
from cutlayer.plan import plugins


def draw(
    name: tuple[str, str],
    exhibit: Mapping[str, Any],
    options: Mapping[str, Any],
    inputs: Mapping[str, str | Path],
    files: Mapping[str, Path],
) -> None:
    """Write an exhibit's `csv`, `png` and `pdf`; for a table also `md` and `tex`.

    `name` is paper and exhibit, `options` the result of `Plan.plot_options`; `inputs` has the `cells` and, if any
    are published, `published`.
    """
    found = cells.load(inputs["cells"])
    if "metrics" in exhibit:  # published cells may have more, of which the exhibit was when they were measured
        found = found[found["metric"].isin([*exhibit["metrics"], ""])].reset_index(drop=True)
    found = scales.shown(found, exhibit["draw"], options["scales"])
    table = cells.summarize(found, *name)
    table = audit.with_audit(table)
    table = worth.with_kept(table, exhibit["kept"]) if "kept" in exhibit else table
    numbers = pd.DataFrame(columns=[*printed.COLUMNS, "item"])
    if options["numbers"]:
        numbers = _own(printed.published_cells(table, options["numbers"], printed.read(inputs["published"])), name[1])
    drawing = plugins.create("exhibit", *plugins.used(exhibit["draw"]))
    context = PlotContext(numbers, options["styles"], options["values"], options["knowing"])
    drawing.draw(table, f"{' '.join(name)}: {exhibit['title']}", files, context)
    cells.write(compared(table.drop(columns=cells.BEHIND), numbers), files["csv"])


def _own(numbers: pd.DataFrame, exhibit: str) -> pd.DataFrame:
    """Published values without duplicates: where a cell has several, those in the exhibit itself."""
    where = [*printed.KEYS, "place"]
    own = numbers["item"] == exhibit
    elsewhere = pd.MultiIndex.from_frame(numbers[where]).isin(pd.MultiIndex.from_frame(numbers[own][where]))
    return numbers[own | ~elsewhere].drop_duplicates([*where, "target", "published"])


def compared(table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
    """The cells with their published values, and the difference (ours minus published) unless data are stand-ins.

    Adds columns published and difference if any is published; a cell with several published values has a row for each,
    and `target` names what each is published for.
    """
    single = numbers[numbers["setting"].notna()]
    if single.empty:
        return table
    along = cells.axis(table.drop(columns=["paper", "exhibit", "scale"]))
    single = single.rename(columns={"place": along})[[*printed.KEYS, along, "target", "published"]]
    joined = table.merge(single.astype({along: table[along].dtype}), how="left", on=[*printed.KEYS, along])
    difference = (joined["mean"] - joined["published"]).where(joined["provenance"] != "stand-in")
    several = joined.duplicated([*printed.KEYS, along]).any()
    return joined.assign(difference=difference).drop(columns=[] if several else "target")
