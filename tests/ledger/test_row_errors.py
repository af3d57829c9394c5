"""What the number of tested rows does to a statistic: no interval is shorter than the rows of it allow."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from cutlayer.ledger.cells import WHO
from cutlayer.ledger.estimates import compared

NEARLY = [0.0, 1e-4, -1e-4, 2e-4, -2e-4]  # seeds that scatter less than any rows
TESTED, ERROR = 1000, 0.02


def cells(mean, defense="d", metric="leak_auc_mean", place=0, tested=TESTED, error=ERROR, attack="a"):
    """One cell, a value a seed."""
    who = dict.fromkeys(WHO, "") | {"setup": "s", "defense": defense, "attack": attack, "metric": metric, "all": place}
    chance = 0.5 if "auc" in metric or "utility" in metric else math.nan
    facts = {"skipped": "", "cases": 1, "tested": tested, "few": tested / 4, "chance": chance, "error": error}
    return pd.DataFrame([who | facts | {"seed": seed, "value": mean + off} for seed, off in enumerate(NEARLY)])


def bound(mean):
    return cells(mean, metric="promise", attack="", tested=0, error=math.nan).assign(value=mean, chance=math.nan)


def reach(check, *tables):
    """Half of the width of the interval."""
    own = pd.concat(tables, ignore_index=True)[[*WHO, "all", "seed", "value", "skipped", "cases", "tested", "few",
                                                "chance", "error"]]  # fmt: skip
    shown = compared(check, own).shown
    return (shown.high - shown.low) / 2


GAP = {"statistic": "gap", "left": {"defense": "d", "metric": "leak_auc_mean"}}


def test_a_difference_from_a_bound_has_the_error_of_one_seeds_rows_over_the_root_of_the_seeds():
    found = reach(GAP | {"right": {"defense": "d", "metric": "promise"}}, cells(0.8), bound(0.7))
    assert found == pytest.approx(2.776 * ERROR / math.sqrt(5), rel=0.02)


def test_a_difference_from_another_known_number_has_the_error_of_the_rows():
    floor = cells(0.7, metric="floor", attack="", tested=0, error=math.nan).assign(value=0.7, chance=math.nan)
    found = reach(GAP | {"right": {"defense": "d", "metric": "floor"}}, cells(0.8), floor)
    assert found > 1.96 * ERROR


def test_a_difference_of_aucs_has_at_most_the_squares_of_both_errors():
    found = reach(GAP | {"right": {"defense": "e", "metric": "leak_auc_mean"}}, cells(0.8), cells(0.7, "e"))
    assert found == pytest.approx(1.96 * ERROR * math.sqrt(2), rel=0.02)


def test_of_aucs_of_rows_that_each_seed_draws_the_scatter_of_seeds_has_the_error_already():
    check = {"statistic": "gap", **{side: {"defense": d, "metric": "test_auc", "attack": ""}
                                    for side, d in (("left", "d"), ("right", "e"))}}  # fmt: skip
    tables = (cells(mean, name, "test_auc", attack="") for mean, name in ((0.8, "d"), (0.75, "e")))
    found = reach(check, *tables)
    assert found == pytest.approx(1.96 * math.sqrt(0.05 * 0.95 / 250) / 2, rel=0.01)


def test_shares_of_other_rows_are_not_paired():
    """basic attacks 714 rows, dpa 500 of another training: 0.0325 is not surely above 0."""
    check = {"statistic": "gap", "left": {"attack": "a"}, "right": {"attack": "b"}}
    one = {"metric": "attack_accuracy"}
    same = reach(check, cells(0.70, **one), cells(0.6675, attack="b", **one))
    other = reach(check, cells(0.70, tested=714, error=0.0178, **one),
                  cells(0.6675, attack="b", tested=500, error=0.0217, **one))  # fmt: skip
    assert same == pytest.approx(1.96 * math.sqrt(0.0325 * 0.9675 / TESTED), rel=0.01)
    assert other == pytest.approx(1.96 * math.hypot(0.0178, 0.0217), rel=0.01)


def test_as_many_rows_with_another_share_of_the_most_common_value_are_other_rows():
    check = {"statistic": "gap", "left": {"attack": "a"}, "right": {"attack": "b"}}
    one = {"metric": "attack_accuracy", "tested": 500, "error": 0.02}
    first, second = cells(0.70, **one), cells(0.6675, attack="b", **one)
    same, other = (reach(check, first.assign(few=222), second.assign(few=few)) for few in (222, 199))
    assert other == pytest.approx(1.96 * math.hypot(0.02, 0.02), rel=0.01)
    assert same < other / 2


@pytest.mark.parametrize("metric", ["tpr_at_1pct", "attack_accuracy", "hit"])
def test_a_share_of_0_in_every_seed_is_not_certain(metric):
    own = cells(0.0, metric=metric, error=math.nan).assign(value=0.0)
    shown = compared({"statistic": "value", "left": {"metric": metric}}, own).shown
    assert shown.low == shown.mean == 0 < shown.high < 1


def test_a_difference_of_shares_of_0_is_not_certain_either():
    check = {"statistic": "gap", "left": {"metric": "tpr_of_vulnerable"}, "right": {"metric": "tpr_at_1pct"}}
    few = cells(0.0, metric="tpr_of_vulnerable", error=math.nan).assign(value=0.0)
    assert reach(check, few, cells(0.05, metric="tpr_at_1pct", error=math.nan)) > 1.96 * 0.05  # of ten rows


def test_a_ratio_has_the_relative_errors_of_both_sides():
    check = {"statistic": "ratio", "left": {"defense": "d"}, "right": {"defense": "e"}}
    found = reach(check, cells(0.8), cells(0.4, "e"))
    assert found == pytest.approx(1.96 * 2 * math.hypot(ERROR / 0.8, ERROR / 0.4), rel=0.01)


def test_a_slope_has_the_errors_of_both_ends():
    lines = [cells(0.6 + 0.1 * place, place=place) for place in range(3)]
    found = reach({"statistic": "slope", "left": {"defense": "d"}}, *lines)
    assert found == pytest.approx(1.96 * ERROR * math.sqrt(2) / 2, rel=0.02)


def test_a_trade_off_at_equal_leak_has_the_errors_of_both_axes():
    """Utility rises by 0.5 a unit of leak: the leaks of either side move it by half of their error."""
    parts = []
    for name, up in (("d", 0.02), ("e", 0.0)):
        for setting, leak in (("s=0", 0.6), ("s=1", 0.8)):
            useful = cells(0.6 + up + (leak - 0.6) / 2, name, "test_auc", attack="")
            parts += [one.assign(setting=setting) for one in (cells(leak, name), useful)]
    check = {"statistic": "at_equal_leak", "left": {"defense": "d"}, "right": {"defense": "e"}, "leak": {
             "attack": "a", "metric": "leak_auc_mean"}, "utility": {"metric": "test_auc", "attack": ""}}  # fmt: skip
    redrawn = math.sqrt(0.02 * 0.98 / 250) / 2
    assert reach(check, *parts) == pytest.approx(1.96 * math.hypot(redrawn, 0.5 * math.sqrt(2) * ERROR), rel=0.03)


def test_a_fact_of_the_data_has_no_error():
    fact = cells(0.25, metric="positive_rate", attack="").head(1).assign(seed=-1)
    shown = compared({"statistic": "value", "left": {"metric": "positive_rate"}}, fact).shown
    assert (shown.low, shown.high) == (0.25, 0.25)
    assert not np.isnan(shown.mean)
