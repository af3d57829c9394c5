"""Too small to judge: a reduced model with far less utility than the paper's does not test its defended rows.

A setup that is smaller than the paper's is too small where its utility without a defense, mean over seeds, is more than
5 points below the largest utility that the paper prints on it, two and a half times what a printed accuracy may be off.
Its interval does not count: fewer tested rows are no reason to judge. A defense only costs utility, so that the largest
printed one is a lower bound of the paper's undefended model where that is not printed. Of such a setup only the
undefended utility itself is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from cutlayer.metrics import declared

from . import printed
from .chance import with_columns
from .check_cells import acts, idle
from .estimates import compared
from .statistics import ROUNDING

FAR = 0.05
UTILITIES = (declared.SHARE, declared.AUC, declared.UTILITY)
Cells = Mapping[str, pd.DataFrame]


def reasons(
    paper: Mapping[str, Any], published: pd.DataFrame, cells: Cells, larger: Sequence[Cells] = ()
) -> dict[str, str]:
    """Setup -> why nothing but its undefended utility is judged; `cells` has the tables of the paper's exhibits, and
    each of `larger` those of a larger scale, the largest last, which the reason names.
    """
    largest: dict[tuple[str, str], float] = {}
    for setup, metric, value in _printed(paper, published, cells):
        largest[setup, metric] = max(value, largest.get((setup, metric), value))
    found = {}
    for (setup, metric), value in largest.items():
        own = undefended(cells, setup, metric)
        ours = compared({"statistic": "value", "left": {}}, own).shown if len(own) else None
        if ours and ours.mean < value - FAR - ROUNDING:
            here = f"without a defense {metric} is {ours.mean:.3f} at this size"
            found[setup] = f"{here}, where the paper has {value:.3f} or more{_at_the_largest(larger, setup, metric)}"
    return found


def _at_the_largest(larger: Sequence[Cells], setup: str, metric: str) -> str:
    """What the largest run of a setup has without a defense; empty where there is no larger one."""
    there = (undefended(cells, setup, metric) for cells in reversed(larger))
    return at_the_largest(own["value"].mean() for own in there if len(own))


def at_the_largest(values: Iterator[float]) -> str:
    """The first of the values of larger runs, the largest run first, to be said after one's own; empty without any."""
    value = next(values, None)
    return "" if value is None else f", and {value:.3f} at the largest that was run"


def is_apart(used: pd.DataFrame) -> bool:
    """Whether cells are judged all the same: of what an undefended model is worth, or of how long something takes."""
    if used.empty or all(declared.of(metric).timed for metric in used["metric"]):
        return not used.empty
    return bool((used["attack"] == "").all()) and not acts(used)


def undefended(cells: Mapping[str, pd.DataFrame], setup: str, metric: str) -> pd.DataFrame:
    """A setup's cells of a metric of its model without a defense, in the first exhibit that has any."""
    for table in cells.values():
        own = table[(table["setup"] == setup) & (table["metric"] == metric)]
        own = own[(own["attack"] == "") & (own["skipped"] == "")]
        if len(own := idle(own)):
            return with_columns(own)
    return pd.DataFrame()


def _printed(
    paper: Mapping[str, Any], published: pd.DataFrame, cells: Mapping[str, pd.DataFrame]
) -> Iterator[tuple[str, str, float]]:
    """Setup, metric and value of each printed number that is a model's utility."""
    for number, entry in printed.numbers(paper.get("numbers", []), published):
        check = entry.get("check", {})
        left = check.get("left")
        if check.get("statistic") != "value" or not isinstance(left, Mapping) or left.get("attack") != "":
            continue
        metric = declared.of(str(left.get("metric")))
        if (
            check["exhibit"] not in cells
            or number["dataset"] == "all"
            or metric.better != "up"
            or metric.kind not in UTILITIES
        ):
            continue
        table = cells[check["exhibit"]]
        for setup in check.get("setups") or printed.on(number["dataset"], check, table)["setup"].unique():
            yield str(setup), str(left["metric"]), float(number["value"])
