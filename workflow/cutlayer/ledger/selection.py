"""Which setting of each defense a table shows: the most private one that costs little utility.

A rule names the metric that is a run's `utility`, the `attack` and its metric, the `leak`, and `within`, by how much
the mean utility over seeds may be below that of the undefended run. Of the settings within, the one of least mean leak
is chosen; if none is within, the one of most utility, and its name says so.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", sections 6.2 and 6.3: "the best
privacy performance and within 1 - 2% utility decline in each method".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from cutlayer.core import failed_cells, failures
from cutlayer.plan.sweeps import UNDEFENDED

from .statistics import ROUNDING

Rule = Mapping[str, Any]


def chosen(cells: pd.DataFrame, rule: Rule) -> pd.DataFrame:
    """The cells of the chosen settings, of an exhibit's cells seed by seed as `cells.gather` has them.

    What a method skipped as a whole stays. A defense of which no setting has both numbers, or that has no undefended
    run beside it, keeps one row, which says so.
    """
    parts = []
    for _, setup in cells.groupby("setup", sort=False):
        points = _points(setup, rule)
        undefended = points["utility"].get((UNDEFENDED, ""), float("nan"))
        for defense, own in setup.groupby("defense", sort=False):
            parts.append(_of_defense(own, points[points.index.get_level_values(0) == defense], undefended, rule))
    return pd.concat(parts, ignore_index=True)


def choose(points: pd.DataFrame, undefended: float, within: float) -> tuple[str, bool]:
    """The label of the chosen setting, and whether it is within; `points` (settings x utility, leak) has no gaps.

    Of equals the first counts.
    """
    near = points[undefended - points["utility"] <= within + ROUNDING]
    return (str(points["utility"].idxmax()), False) if near.empty else (str(near["leak"].idxmin()), True)


def _points(setup: pd.DataFrame, rule: Rule) -> pd.DataFrame:
    """Means over seeds by defense and setting: columns utility, leak."""
    utility = setup[(setup["attack"] == "") & (setup["metric"] == rule["utility"])]
    leak = setup[(setup["attack"] == rule["attack"]) & (setup["metric"] == rule["leak"])]
    parts = [part.groupby(["defense", "setting"], sort=False)["value"].mean() for part in (utility, leak)]
    return pd.concat(parts, axis=1, keys=["utility", "leak"])


def _of_defense(own: pd.DataFrame, points: pd.DataFrame, undefended: float, rule: Rule) -> pd.DataFrame:
    complete = points.dropna().droplevel(0)
    if (own["skipped"] != "").all():
        return own
    if complete.empty or pd.isna(undefended):
        return _unchosen(own)
    setting, near = choose(complete, undefended, rule["within"])
    kept = own[(own["setting"] == setting) | ((own["setting"] == "") & (own["skipped"] != ""))]
    note = "" if near else f"(none within {100 * rule['within']:g} points)"
    return kept.assign(setting=kept["setting"].where(kept["setting"] != setting, f"{setting} {note}".strip()))


def _unchosen(own: pd.DataFrame) -> pd.DataFrame:
    """One row in place of all."""
    reasons = own["skipped"][failed_cells.among(own)]
    reason = reasons.iloc[0] if len(reasons) else f"{failures.PREFIX}no utility and leak to choose a setting by"
    return own.head(1).assign(setting="", attack="", metric="", value=float("nan"), skipped=reason)
