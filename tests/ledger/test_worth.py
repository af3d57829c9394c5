"""The share of the passive party's worth that a defense keeps, and where there is none to keep."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from cutlayer.ledger import worth
from cutlayer.ledger.cells import WHO, summarize
from cutlayer.ledger.claims import Scale, judge
from cutlayer.ledger.sides import Side
from cutlayer.plan.check_lines import parsed

PRINTED = pd.DataFrame(columns=["item", "dataset", "method", "metric", "value"])
NOISE = np.array([-2e-3, 1e-3, 0.0, 2e-3, -1e-3])


def cells(defense, values, metric="test_auc", **more):
    common = dict.fromkeys(WHO, "") | {"setup": "s", "dataset": "s", "provenance": "real", "all": 0}
    facts = {"skipped": "", "n": 0, "cases": 1, "chance": 0.5}
    facts |= {"tested": 0, "few": 0, "error": math.nan} | more  # of nobody knows how many rows, unless a test says it
    rows = [{"defense": defense, "metric": metric, "seed": s, "value": v} for s, v in enumerate(values)]
    return pd.DataFrame([common | facts | row for row in rows])


def row(none, useful, floor=None, line="kept(test_auc of model under d - send_nothing) in e >= 0.5", **more):
    own = {"none": none, "d": useful} | ({} if floor is None else {"send_nothing": floor})
    table = [cells(name, values, **more) for name, values in own.items()]
    content = {"claims": {"c": {"text": "It stays useful.", "place": "p", "check": parsed(line, "c"), "why": "w"}}}
    (found,) = judge("paper", content, PRINTED, {"e": pd.concat(table)}, Scale("paper")).to_dict("records")
    return found


def test_a_defense_that_keeps_three_quarters_of_what_is_there_to_keep():
    found = row(0.9 + NOISE, 0.8 + NOISE[::-1], 0.5 + NOISE * 0)
    assert found["ours"] == pytest.approx(0.75)
    assert found["verdict"] == "holds"
    assert 0.74 < found["low"] < 0.75 < found["high"] < 0.76


def test_a_defense_that_is_worth_no_more_than_sending_nothing_keeps_nothing():
    found = row(0.9 + NOISE, 0.5 + NOISE, 0.5 + NOISE[::-1])
    assert found["verdict"] == "fails"
    assert found["low"] < 0 < found["high"]


@pytest.mark.parametrize("worth_of", [0.0, 0.0196, -0.1])
def test_where_the_passive_party_adds_next_to_nothing_there_is_no_worth_to_keep(worth_of):
    found = row(0.745 + worth_of + NOISE, 0.74 + NOISE, 0.745 + NOISE[::-1])
    assert found["verdict"] == "no worth to keep"
    assert found["why"].startswith("no worth to keep: without a defense the utility is")
    assert math.isnan(found["ours"])


def test_of_a_single_seed_nothing_is_decided():
    found = row(np.array([0.9]), np.array([0.8]), np.array([0.5]), tested=5000, few=500, error=0.01)
    assert found["ours"] == pytest.approx(0.75)
    assert math.isnan(found["low"])
    assert found["verdict"] == "no signal"  # one seed is not surely better than chance
    assert row(np.array([0.51]), np.array([0.5]), np.array([0.5]))["verdict"] == "no worth to keep"


def test_without_a_floor_it_is_chance():
    line = "kept(test_auc of model under d) in e >= 0.5"
    assert row(0.9 + NOISE, 0.8 + NOISE, line=line)["ours"] == pytest.approx(0.75)


def test_the_floor_is_of_the_same_seeds():
    """Seeds differ by ten times what defenses do, and alike for all of them."""
    shift = 10 * NOISE
    found = row(0.9 + shift, 0.8 + shift, 0.5 + shift)
    assert found["ours"] == pytest.approx(0.75)
    assert found["high"] - found["low"] < 1e-6


@pytest.mark.parametrize(("metric", "chance"), [("test_auc", 0.5), ("test_accuracy", 0.4)])
def test_however_near_the_seeds_are_the_tested_rows_leave_what_they_leave_of_a_difference(metric, chance):
    """Seeds are alike; the share is above one half by less than the difference of the utilities from it could be."""
    line = f"kept({metric} of model under d - send_nothing) in e >= 0.5"
    none, useful, floor = (np.full(3, value) for value in (0.9, 0.77, 0.6))
    few = {"metric": metric, "chance": chance, "tested": 60, "few": 20, "error": 0.05}
    found = row(none, useful, floor, line, **few)
    assert found["ours"] == pytest.approx(0.17 / 0.3)
    assert found["verdict"] == "undecided"
    gap = row(none, useful, floor, f"{metric} of model under d - send_nothing in e >= 0.15", **few)
    assert gap["verdict"] == "undecided"
    many = row(none, useful, floor, line, **few | {"tested": 600000, "few": 200000, "error": 0.0005})
    assert many["verdict"] == "holds"
    assert many["high"] - many["low"] < 0.05 * (found["high"] - found["low"])


def test_what_does_nothing_keeps_all_of_it_exactly():
    found = row(0.9 + NOISE, 0.9 + NOISE, 0.5 + 3 * NOISE[::-1], tested=500, error=0.05)
    assert (found["ours"], found["low"], found["high"]) == (1, 1, 1)


def test_an_interval_with_errors_of_rows_covers_the_ratio_too():
    draw, inside = np.random.default_rng(1), 0
    for _ in range(4000):
        rows = draw.normal(0, 0.02, 3)[:, None]  # the same in all seeds
        none, useful, floor = np.array([[0.9], [0.8], [0.6]]) + rows + draw.normal(0, 0.01, (3, 5))
        sides = [Side(np.arange(5), np.zeros(5), one, np.full(5, 0.02), np.zeros(5), np.full(5, math.nan), "auc", False)
                 for one in (useful, none, floor)]  # fmt: skip
        found = worth.kept(useful - floor, none - floor, worth.errors_of(*sides))
        inside += found.low <= 2 / 3 <= found.high
    assert inside / 4000 >= 0.94


def test_fiellers_interval_covers_the_ratio_as_often_as_it_says():
    """Also where the worth is only four of its standard errors above 0, where that of a ratio of each seed is not."""
    draw, inside = np.random.default_rng(0), 0
    for _ in range(4000):
        floor, none, useful = draw.normal(0, 0.02, 5), draw.normal(0.05, 0.02, 5), draw.normal(0.025, 0.02, 5)
        found = worth.kept(useful - floor, none - floor)
        inside += found.low <= 0.5 <= found.high
    assert inside / 4000 == pytest.approx(0.95, abs=0.012)


def test_a_worth_that_may_be_0_bounds_no_ratio():
    found = worth.kept(np.array([0.1, -0.1, 0.2]), np.array([0.3, -0.4, 0.2]))
    assert (found.low, found.high) == (-math.inf, math.inf)


RULE = {"utility": "test_auc", "floor": "send_nothing"}


def shares(*tables):
    """The rows that an exhibit gets."""
    table = worth.with_kept(summarize(pd.concat(tables).assign(scale="quick"), "p", "e"), RULE)
    return table[table["metric"] == "kept"].set_index("defense")


def test_an_exhibit_has_what_the_ledger_says_of_each_run():
    shift = 10 * NOISE
    own = {"none": 0.9 + shift, "d": 0.8 + shift + NOISE, "send_nothing": 0.5 + shift}
    found = shares(*(cells(name, values) for name, values in own.items()))
    ledger = row(own["none"], own["d"], own["send_nothing"])
    assert found.loc["d", ["mean", "low", "high"]].tolist() == [ledger["ours"], ledger["low"], ledger["high"]]
    assert np.mean([*found.loc["d", "each"].values()]) == pytest.approx(ledger["ours"])
    assert found["mean"][["none", "send_nothing"]].tolist() == pytest.approx([1, 0])


def test_an_exhibit_says_where_there_is_no_worth_to_keep():
    found = shares(cells("none", 0.51 + NOISE), cells("send_nothing", 0.5 + NOISE[::-1]))
    assert found["skipped"].str.startswith("no worth to keep: without a defense").all()
    assert found["mean"].isna().all()


def test_without_a_floor_an_exhibit_says_nothing():
    assert shares(cells("none", 0.9 + NOISE), cells("d", 0.8 + NOISE)).empty
