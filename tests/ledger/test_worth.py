"""The share of the passive party's worth that a defense keeps, and where there is none to keep."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from cutlayer.ledger import worth
from cutlayer.ledger.cells import WHO, summarize
from cutlayer.ledger.claims import Scale, judge
from cutlayer.plan.check_lines import parsed

PRINTED = pd.DataFrame(columns=["item", "dataset", "method", "metric", "value"])
NOISE = np.array([-2e-3, 1e-3, 0.0, 2e-3, -1e-3])


def cells(defense, values, metric="test_auc"):
    common = dict.fromkeys(WHO, "") | {"setup": "s", "dataset": "s", "provenance": "real", "all": 0}
    facts = {"skipped": "", "n": 0, "cases": 1, "tested": 5000, "few": 500, "chance": 0.5, "error": 0.01}
    rows = [{"defense": defense, "metric": metric, "seed": s, "value": v} for s, v in enumerate(values)]
    return pd.DataFrame([common | facts | row for row in rows])


def row(none, useful, floor=None, line="kept(test_auc of model under d - send_nothing) in e >= 0.5"):
    table = [cells("none", none), cells("d", useful)] + ([] if floor is None else [cells("send_nothing", floor)])
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
    found = row(np.array([0.9]), np.array([0.8]), np.array([0.5]))
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
