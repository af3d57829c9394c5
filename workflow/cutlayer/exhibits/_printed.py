"""Cells joined with the values that the paper publishes for them."""

from __future__ import annotations

import pandas as pd

from cutlayer.ledger.cells import axis
from cutlayer.ledger.printed import KEYS

AS_PRINTED = "hollow: as the paper prints it"


def with_printed(cells: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """The cells with a published value, once for each value: their columns, and target, published, decimals."""
    along = axis(cells.drop(columns=["paper", "exhibit", "scale"]))
    exact = printed[printed["setting"].notna()].astype({"place": float})
    return cells.astype({along: float}).merge(exact, left_on=[*KEYS, along], right_on=[*KEYS, "place"])


def pairs(printed: pd.DataFrame, leaks: list[str], utility: str) -> pd.DataFrame:
    """Pairs of published leak and published utility of each defense and attack.

    Columns setup, attack, defense, leak, utility. A utility that is published by attack is paired with its attack.
    """
    run = printed[printed["metric"] == utility].drop_duplicates(["setup", "defense", "setting", "target"])
    leak = printed[printed["metric"].isin(leaks)]
    both = leak.merge(run, on=["setup", "defense", "setting"], suffixes=("", "_run"))
    own = both[(both["target_run"] == both["target"]) | ~both["target"].isin(both["attack"])]
    own = own.rename(columns={"published": "leak", "published_run": "utility"})
    return own[["setup", "attack", "defense", "leak", "utility"]].drop_duplicates()
