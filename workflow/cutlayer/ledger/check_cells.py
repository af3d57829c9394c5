"""The cells that a check compares: the selections that it names, and their cells in a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from cutlayer.plan.check_lines import AT_EQUAL, listed
from cutlayer.plan.sweeps import UNDEFENDED

Check = Mapping[str, Any]
Selection = Mapping[str, Any]
IDLE = "weight=0.0"  # a setting


def all_selections(check: Check) -> list[dict[str, Any]]:
    """All selections of a check, in full."""
    sides = [dict(one) for key in ("left", "right") for one in selections(check.get(key, []))]
    if check["statistic"] == "kept":
        return [*sides, undefended(check)]
    if check["statistic"] not in AT_EQUAL:
        return sides
    return [{**side, **check[name]} for side in sides for name in ("leak", "utility")]


def undefended(check: Check) -> dict[str, Any]:
    """The left side of a check without a defense."""
    return {"metric": check["left"]["metric"], "attack": check["left"]["attack"], "defense": UNDEFENDED}


def where(own: pd.DataFrame, selection: Selection) -> pd.DataFrame:
    """The cells of a selection."""
    return own[mask(own, selection)]


def mask(own: pd.DataFrame, selection: Selection) -> np.ndarray:
    """Mask (cells,) of a selection."""
    found = np.ones(len(own), dtype=bool)
    for column, value in selection.items():
        there = own[column].to_numpy()
        found &= np.logical_or.reduce([there == one for one in listed(value)])
    return found


def selections(given: Selection | Sequence[Selection]) -> Sequence[Selection]:
    """One selection or several, as a list."""
    return [given] if isinstance(given, Mapping) else given


def acts(cells: pd.DataFrame) -> bool:
    """True if some cell has an active defense; a penalty with a weight of 0 is none, nor has a fact of the data one."""
    own = cells[cells["defense"] != ""]
    return len(idle(own)) < len(own)


def idle(cells: pd.DataFrame) -> pd.DataFrame:
    """The cells without an active defense."""
    return cells[(cells["defense"] == UNDEFENDED) | (cells["setting"] == IDLE)]
