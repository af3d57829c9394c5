"""Void bounds: those that no defense at all would keep as well, so that keeping them shows nothing of the defense."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from cutlayer.metrics import declared
from cutlayer.plan.sweeps import UNDEFENDED

from .asked import Check, where
from .chance import two_sided
from .estimates import compared

WITHOUT = ("attack", "metric")  # what the undefended leak has in common with the defended one


def reason(check: Check, table: pd.DataFrame, setup: str) -> str:
    """Why the bound that is the right side of a gap is void in a setup; empty where it is not, or where nothing tells.

    `table` has the cells of the exhibit. A bound is void where the leak of the undefended run to the same attack is not
    surely above it.
    """
    right, left = check.get("right"), check["left"]
    if not isinstance(right, Mapping) or declared.of(str(right.get("metric"))).kind != declared.BOUND:
        return ""
    own = table[(table["setup"] == setup) & (table["skipped"] == "")]
    plain = {"defense": UNDEFENDED} | {name: left[name] for name in WITHOUT}
    leaks, bounds = where(own, plain), where(own, right)
    if not set(bounds["seed"]) <= set(leaks["seed"]) or bounds.empty:
        return ""
    both = pd.concat([two_sided(leaks[leaks["seed"].isin(bounds["seed"])]), bounds])
    above = compared({"statistic": "gap", "left": plain, "right": right}, both).shown
    if above.low > 0:
        return ""
    leak, bound = leaks["value"].mean(), bounds["value"].mean()
    return f"without a defense the same attack reaches {leak:.3f}, not surely above the bound, {bound:.3f}"
