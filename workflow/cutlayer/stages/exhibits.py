"""exhibits: from the cells of an exhibit to its files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from cutlayer.exhibits.base import Beside
from cutlayer.ledger import cells, printed, scales
from cutlayer.plan import plugins


def draw(
    name: tuple[str, str],
    exhibit: Mapping[str, Any],
    told: Mapping[str, Any],
    inputs: Mapping[str, str | Path],
    files: Mapping[str, Path],
) -> None:
    """Write an exhibit's `csv`, `png` and `pdf`, and of a table `md` and `tex`.

    `name` is paper and exhibit, `told` what `Plan.beside` gives, with the scales
    in their order; `inputs` has the `cells` and, where there are printed
    numbers, `published`.
    """
    found = scales.shown(cells.load(inputs["cells"]), exhibit["draw"], told["scales"])
    table = cells.summarize(found, *name)
    numbers = pd.DataFrame(columns=[*printed.COLUMNS, "item"])
    if told["numbers"]:
        numbers = _own(printed.beside(table, told["numbers"], printed.read(inputs["published"])), name[1])
    drawing = plugins.create("exhibit", *plugins.used(exhibit["draw"]))
    beside = Beside(numbers, told["looks"], told["values"], told["knowing"])
    drawing.draw(table, f"{' '.join(name)}: {exhibit['title']}", files, beside)
    cells.write(compared(table.drop(columns=cells.BEHIND), numbers), files["csv"])


def _own(numbers: pd.DataFrame, exhibit: str) -> pd.DataFrame:
    """Of what is printed of a cell at several places, that in the exhibit itself; once, where it is the same."""
    where = [*printed.KEYS, "place"]
    own = numbers["item"] == exhibit
    elsewhere = pd.MultiIndex.from_frame(numbers[where]).isin(pd.MultiIndex.from_frame(numbers[own][where]))
    return numbers[own | ~elsewhere].drop_duplicates([*where, "target", "published"])


def compared(table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
    """The cells with what the paper prints of them, and ours less it unless data are stand-ins.

    Columns published and difference, where it prints any; a cell for which it prints several has a row for each, and
    `target` says for what it is printed.
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
