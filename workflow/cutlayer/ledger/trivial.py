"""What would be so without a defense, or with an answer that is always the same: no verdict rests on that.

"Close to random guess" says something of a defense only where the undefended attack is surely further away. A printed
number whose tolerance has the accuracy of a constant answer in it is met by a model that has learned nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from cutlayer.metrics import declared

from .check_cells import Check, acts, idle, mask
from .estimates import compared
from .evidence import Found

CONSTANT = "an answer that is always the same is within its tolerance, too, so that it cannot hold"


def as_near_undefended(check: Check, found: Found, cells: Mapping[str, pd.DataFrame]) -> str:
    """Why "at most so far above chance" says nothing of a defense: the attack on no defense is not surely further."""
    left, right = check["left"], check.get("right", {})
    if check["statistic"] != "gap" or "at_most" not in check or not _is_chance(right) or not acts(found.used):
        return ""
    table = cells[check["exhibit"]]
    own = table[(table["setup"] == found.facts["setup"]) & (table["skipped"] == "")]
    own = idle(own[mask(own, {"attack": left["attack"], "metric": [left["metric"], right["metric"]]})])
    if own.empty:
        return ""
    sides = [{"attack": left["attack"], "metric": side["metric"]} for side in (left, right)]
    gap = compared({"statistic": "gap", "left": sides[0], "right": sides[1]}, own).shown
    if gap.low > check["at_most"]:
        return ""
    return f"it is {gap.mean:.3f} above without a defense, not surely further"


def as_near_as_a_constant(check: Check, used: pd.DataFrame, printed: float, tolerance: float) -> bool:
    """Whether a constant answer's accuracy, less what the check takes off, is within the tolerance of a printed one."""
    if used.empty or check["statistic"] not in ("value", "gap") or isinstance(check["left"], list):
        return False
    chance, off = used[mask(used, check["left"])]["chance"].astype(float).mean(), 0.0
    if "right" in check:
        off = float(used.loc[mask(used, check["right"]), "value"].mean())
    return bool(abs(chance - off - printed) <= tolerance)


def _is_chance(side: Any) -> bool:
    return isinstance(side, Mapping) and declared.of(str(side.get("metric"))).fact == declared.COMMON
