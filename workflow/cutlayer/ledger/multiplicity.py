"""Multiple testing: verdicts that stay when a claim's setups, all bounds, or all rows are judged at once.

A row keeps its own 95%. What is said of several setups in one sentence holds for those that Holm's procedure keeps
within the claim; a bound is refuted only if it stays so among all bounds; and the foot of the ledger says how many rows
the procedure of Benjamini and Hochberg keeps.

Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979; Benjamini,
Hochberg, "Controlling the false discovery rate", Journal of the Royal Statistical Society B 57, 1995.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import pandas as pd
from scipy.stats import false_discovery_control

from .estimates import Compared
from .statistics import LEVEL, holm
from .verdicts import BOUNDS, DIFFERS, FAILS, HOLDS, MARK, NOT_REFUTED, REFUTED, UNDECIDED

AGAINST = (FAILS, DIFFERS)
BY_INTERVAL = (HOLDS, *AGAINST)
HALVINGS, LEAST = 12, 1e-8  # of the search for a p-value, and where it ends


def p_value(ours: Compared, judge: Callable[[Compared], str], verdict: str) -> float:
    """One-sided level below which the interval no longer gives the verdict; nan if there is none.

    Searched on the logarithmic scale: to 0.4%, and not below LEAST.
    """
    if ours.again is None or verdict not in BY_INTERVAL:
        return math.nan
    fewer, more = 0.0, math.log(LEVEL / LEAST)
    for _ in range(HALVINGS):
        middle = (fewer + more) / 2
        if judge(ours.again(1.0, math.exp(middle))) == verdict:
            fewer = middle
        else:
            more = middle
    return LEVEL * math.exp(-fewer)


def together(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of a ledger in which bounds are refuted only if they stay so among all tested bounds (Holm)."""
    refuted = _words(rows) == REFUTED
    tested = rows["p"].notna() & _words(rows).isin(BOUNDS)
    kept = pd.Series(holm([*rows.loc[tested, "p"]]), index=rows.index[tested], dtype=bool)
    gone = refuted & ~kept.reindex(rows.index, fill_value=False)
    word = rows["verdict"].mask(gone, rows["verdict"].str.replace(REFUTED, NOT_REFUTED))
    alone = f"it is above by itself, and not when all {int(tested.sum())} bounds are tested at once"
    return rows.assign(verdict=word, why=rows["why"].mask(gone, (alone + "; " + rows["why"]).str.removesuffix("; ")))


def by_itself(rows: pd.DataFrame) -> pd.Series:
    """Mask of the verdicts on a claim that do not stay when all its setups are judged at once (Holm)."""
    judged = rows[(rows["kind"] != "number") & _words(rows).isin([*BY_INTERVAL, UNDECIDED])]
    found = pd.Series(False, index=rows.index)
    for _, claim in judged.groupby(["paper", "item"], sort=False):
        decided = claim["p"].notna()
        found[claim.index] = decided & ~pd.Series(holm([*claim["p"].fillna(1.0)]), index=claim.index)
    return found


def discoveries(rows: pd.DataFrame) -> tuple[int, int, int]:
    """Numbers of rows judged by an interval, of *fails* and *differs*, and of *holds*, of which at most 2.5% are
    expected to be false (Benjamini-Hochberg).
    """
    numbers = rows[["low", "high", "p"]].apply(pd.to_numeric)  # publish has them as text
    rows = rows.assign(**numbers)
    judged = rows[_words(rows).isin([*BY_INTERVAL, UNDECIDED]) & (rows["low"] < rows["high"])]
    if judged.empty:
        return 0, 0, 0
    sides = (judged["p"].where(_words(judged).isin(words)).fillna(1.0) for words in (AGAINST, (HOLDS,)))
    against, holds = (int((false_discovery_control(side) <= LEVEL).sum()) for side in sides)
    return len(judged), against, holds


def _words(rows: pd.DataFrame) -> pd.Series:
    return rows["verdict"].str.removesuffix(MARK)
