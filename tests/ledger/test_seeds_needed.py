"""How many seeds would decide what is undecided."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from cutlayer.ledger import seeds
from cutlayer.ledger.estimates import Compared, compared

CHECK = {"statistic": "value", "left": {"metric": "mse"}, "at_least": 0.5}


def cells(values: list[float], error: float = 0.0) -> pd.DataFrame:
    """One cell, with a value a seed."""
    same = {"setup": "s", "defense": "d", "setting": "", "attack": "a", "cases": 1, "metric": "mse", "all": 0}
    more = {"tested": 100, "chance": 0.5, "error": error}
    return pd.DataFrame([same | more | {"seed": n, "value": v} for n, v in enumerate(values)])


def enough(own: pd.DataFrame) -> str:
    return seeds.enough(compared(CHECK, own), len(own), above)


def above(ours: Compared) -> bool:
    return ours.shown.low > 0.5 or ours.shown.high < 0.5


def test_it_is_the_first_count_whose_interval_decides() -> None:
    values = [0.5, 0.6, 0.55]
    mean, spread = np.mean(values), np.std(values, ddof=1)
    reaches = {n: stats.t.ppf(0.975, n - 1) * spread / np.sqrt(n) for n in seeds.COUNTS}
    first = min(n for n, reach in reaches.items() if mean - reach > 0.5)
    assert enough(cells(values)) == f"about {first} seeds would decide it"


@pytest.mark.parametrize(("spread", "count"), [(0.02, 5), (0.05, 10), (0.1, 20), (0.3, 200)])
def test_more_scatter_takes_more_seeds(spread: float, count: int) -> None:
    found = enough(cells([0.55 - spread, 0.55, 0.55 + spread]))
    assert found == f"about {count} seeds would decide it"


def test_what_the_tested_rows_leave_no_seed_takes_away() -> None:
    assert enough(cells([0.54, 0.55, 0.56], error=0.1)) == seeds.NEVER


def test_a_mean_on_the_limit_is_never_decided() -> None:
    assert enough(cells([0.4, 0.5, 0.6])) == seeds.TOO_NEAR  # no error of rows is in it
    assert seeds.says(seeds.TOO_NEAR)


def test_one_seed_says_nothing_of_others() -> None:
    assert enough(cells([0.6])) == ""
