"""What would be so without a defense, or with an answer that is always the same: no verdict rests on that.

"Close to random guess" says something of a defense only where the undefended attack is surely further away. A printed
number whose tolerance has the accuracy of a constant answer in it is met by a model that has learned nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from cutlayer.metrics import declared

from .check_cells import Check, acts, idle, mask
from .estimates import Estimate, compared
from .evidence import Found
from .too_small import Cells, at_the_largest

CONSTANT = "an answer that is always the same is within its tolerance, too, so that it cannot hold"


def as_near_undefended(check: Check, found: Found, cells: Cells, larger: Sequence[Cells] = ()) -> str:
    """Why "at most so far above chance" says nothing of a defense: the attack on no defense is not surely further.

    `larger` has the cells of larger scales, the largest last; the reason names what the largest one found.
    """
    if (
        check["statistic"] != "gap"
        or "at_most" not in check
        or not _is_chance(check.get("right"))
        or not acts(found.used)
    ):
        return ""
    gap = _undefended(check, found.facts["setup"], cells)
    if gap is None or gap.low > check["at_most"]:
        return ""
    further = "surely not further" if gap.high <= check["at_most"] else "not surely further"
    there = (_undefended(check, found.facts["setup"], tables) for tables in reversed(larger))
    beside = at_the_largest(one.mean for one in there if one)
    return f"it is {gap.mean:.3f} above without a defense here, {further}{beside}"


def _undefended(check: Check, setup: str, cells: Cells) -> Estimate | None:
    """By how much a check's attack is above chance without a defense; None where that was not run."""
    table = cells.get(check["exhibit"], pd.DataFrame(columns=["setup", "skipped"]))
    sides = [{"attack": check["left"]["attack"], "metric": check[side]["metric"]} for side in ("left", "right")]
    own = table[(table["setup"] == setup) & (table["skipped"] == "")]
    if own.empty:
        return None
    own = idle(own[mask(own, {"attack": sides[0]["attack"], "metric": [side["metric"] for side in sides]})])
    return None if own.empty else compared({"statistic": "gap", "left": sides[0], "right": sides[1]}, own).shown


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
