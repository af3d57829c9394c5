"""Proven bounds: refuted, attained or not refuted, all of them at once, and only by what they are about."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from cutlayer.ledger.cells import WHO
from cutlayer.ledger.claims import Scale, judge
from cutlayer.ledger.estimates import compared
from cutlayer.ledger.multiplicity import together
from cutlayer.theory.accounting import response_auc

PRINTED = pd.DataFrame(columns=["item", "dataset", "method", "metric", "value"])
BOUND = 0.7310586
ATTACK = {"metric": "leak_auc_mean", "attack": "any"}
DRAWN = [0.7329, 0.7367, 0.7567, 0.7544, 0.7449]  # what randomized response drew on Avazu, all above its bound


def cells(values, **who):
    common = dict.fromkeys(WHO, "") | {"setup": "s", "dataset": "s", "provenance": "real", "defense": "d", "all": 0}
    facts = {"skipped": "", "n": 0, "cases": 1, "tested": 1000, "few": 174, "chance": 0.5, "error": 0.0212}
    return pd.DataFrame([common | who | facts | {"seed": seed, "value": value} for seed, value in enumerate(values)])


def rows(values, about="class", drawn=None, **facts):
    promised = cells([BOUND] * len(values), metric="promise").assign(chance=math.nan, error=math.nan, tested=0, few=0)
    tables = [cells(values, **ATTACK).assign(**facts), promised]
    tables += [] if drawn is None else [cells(drawn, metric="leak_auc_mean", attack="as_drawn").assign(**facts)]
    check = {"exhibit": "e", "statistic": "gap", "at_most": 0.0, "left": ATTACK, "right": {"metric": "promise"}}
    claim = {"text": "It is bounded.", "place": "p", "check": check, "about": about, "why": "it takes much for granted"}
    return judge("paper", {"claims": {"c": claim}}, PRINTED, {"e": pd.concat(tables)}, Scale("paper"))


def test_a_tight_mechanism_whose_draws_happen_to_be_true_is_not_refuted():
    (row,) = rows(DRAWN).to_dict("records")
    assert (row["verdict"], row["why"]) == ("not refuted", "")
    assert row["low"] < 0 < row["high"]
    assert row["p"] > 0.025


def test_what_is_surely_above_refutes_and_says_why():
    (row,) = rows(np.array(DRAWN) + 0.1).to_dict("records")
    assert (row["verdict"], row["why"]) == ("refuted", "it takes much for granted")


def test_a_bound_about_a_label_is_not_refuted_by_aucs_across_rows():
    """Turned by what features say, an attack reads 0.864 of randomized response at 1, and nothing is violated."""
    (row,) = rows(np.array(DRAWN) + 0.13, about="label").to_dict("records")
    assert row["verdict"] == "not refuted"
    assert row["why"].startswith("the bound is about the label of one row")
    assert math.isnan(row["p"])
    assert rows(DRAWN, about=None)["verdict"].tolist() == ["not refuted"]


def test_the_distance_to_a_bound_has_the_same_interval_from_either_side():
    promised = cells([BOUND] * 5, metric="promise").assign(chance=math.nan, error=math.nan, tested=0, few=0)
    check = {"statistic": "gap", "left": {"metric": "promise"}, "right": ATTACK}
    found = compared(check, pd.concat([cells(DRAWN, **ATTACK), promised])).shown
    (row,) = rows(DRAWN).to_dict("records")
    np.testing.assert_allclose((-found.mean, -found.high, -found.low), (row["ours"], row["low"], row["high"]))


def test_what_is_near_a_bound_attains_it():
    near = BOUND + np.array([0.001, -0.001, 0.002, -0.002, 0.0])
    assert rows(near)["verdict"].tolist() == ["not refuted"]  # its few rows leave more than 0.02
    assert rows(near, error=0.001, few=1e5)["verdict"].tolist() == ["attained"]
    assert rows(near - 0.1, error=0.001, few=1e5)["verdict"].tolist() == ["not refuted"]
    assert rows(near, about="label", error=0.001, few=1e5)["verdict"].tolist() == ["not refuted"]


def undefended(values, bound=0.921, leak=0.7, **promised):
    """The verdict on a bound, what the defense leaks being far below it, and what the undefended run leaks."""
    none = cells(values, metric="leak_auc_mean", attack="any", defense="none").assign(error=0.005, few=500)
    own = cells([leak] * 5, metric="leak_auc_mean", attack="any").assign(error=0.005, few=500)
    limit = cells([bound] * 5, metric="promise").assign(chance=math.nan, error=math.nan, tested=0, few=0, **promised)
    check = {"exhibit": "e", "statistic": "gap", "at_most": 0.0, "left": ATTACK | {"defense": "d"},
             "right": {"metric": "promise", "attack": "", "defense": "d"}}  # fmt: skip
    claim = {"text": "It is bounded.", "place": "p", "check": check, "about": "class", "why": "w"}
    table = pd.concat([none, own, limit])
    (row,) = judge("paper", {"claims": {"c": claim}}, PRINTED, {"e": table}, Scale("paper")).to_dict("records")
    return row["verdict"], row["why"]


def test_a_bound_that_no_defense_would_keep_as_well_is_void():
    verdict, why = undefended([0.914, 0.910, 0.918, 0.912, 0.916])
    assert verdict == "void"
    assert why == "the same attack reaches 0.914 without a defense, not surely above the bound, 0.921"
    assert undefended([0.914, 0.910, 0.918, 0.912, 0.916], by="")[1].startswith("the worst attack of any reaches")
    assert undefended([0.93, 0.915, 0.94, 0.92, 0.925])[0] == "void"  # above it, and not surely
    assert undefended([0.96, 0.961, 0.962, 0.96, 0.959])[0] == "not refuted"


def test_a_bound_that_is_refuted_is_not_void():
    assert undefended([0.914, 0.910, 0.918, 0.912, 0.916], bound=0.95, leak=0.99)[0] == "refuted"


def test_what_reads_all_that_was_drawn_attains_the_bound():
    """By whatever its rows leave, and on whichever side of the bound the draws happen to be."""
    for about in ("label", "class"):
        (row,) = rows(DRAWN, about=about, drawn=DRAWN).to_dict("records")
        assert row["verdict"] == "attained"
    assert rows(DRAWN, about="label", drawn=DRAWN)["why"].str.contains("its AUC is that of as_drawn").all()
    apart = [np.array(DRAWN) - 0.03, np.add(DRAWN, [0.05, -0.05, 0.05, -0.05, 0.0])]
    for attack in apart:
        assert rows(attack, about="label", drawn=DRAWN)["verdict"].tolist() == ["not refuted"]


def test_where_the_draw_was_scored_nearness_to_the_bound_is_not_asked():
    near = BOUND + np.array([0.001, -0.001, 0.002, -0.002, 0.0])
    assert rows(near, drawn=near - 0.05, error=0.001, few=1e5)["verdict"].tolist() == ["not refuted"]
    above = np.array(DRAWN) + 0.1
    assert rows(above, drawn=above)["verdict"].tolist() == ["refuted"]
    assert rows(above, about="label", drawn=above)["verdict"].tolist() == ["not refuted"]  # it draws not as it says


def over_draw(attack, drawn, **check):
    """The row of the claim that an attack reads no more than was drawn."""
    tables = (
        [cells(attack, **ATTACK), cells(drawn, metric="leak_auc_mean", attack="as_drawn")]
        if drawn
        else [cells(attack, **ATTACK)]
    )
    sides = {"left": ATTACK | {"setting": ""}, "right": ATTACK | {"attack": "as_drawn", "setting": ""}}
    claim = {
        "text": "It reads what is drawn.",
        "place": "p",
        "check": {"exhibit": "e", "statistic": "gap"} | sides | check,
    }
    (row,) = judge("paper", {"claims": {"c": claim}}, PRINTED, {"e": pd.concat(tables)}, Scale("paper")).to_dict(
        "records"
    )
    return row


def test_an_attack_and_what_was_drawn_are_paired_by_seed():
    assert over_draw(DRAWN, DRAWN, at_most=0.02)["verdict"] == "holds"
    assert over_draw([one + 0.05 for one in DRAWN], DRAWN, at_most=0.02)["verdict"] == "fails"


def test_cells_that_are_older_than_the_score_of_draws_have_no_result_on_them():
    row = over_draw(DRAWN, None, at_most=0.02)
    assert row["verdict"] == "no result"
    assert "older than that score" in row["why"]


def test_bounds_are_tested_all_at_once():
    """Alone p = 0.02 refutes; among ten it does not, and says so."""
    ledger = pd.DataFrame({"verdict": ["refuted (reduced)"] * 3, "p": [0.0001, 0.02, math.nan], "why": "w"})
    assert together(ledger[:1])["verdict"].tolist() == ["refuted (reduced)"]
    assert together(ledger[1:2])["verdict"].tolist() == ["refuted (reduced)"]
    more = pd.DataFrame({"verdict": ["not refuted"] * 8, "p": [0.9] * 8, "why": ""})
    found = together(pd.concat([ledger[:2], more], ignore_index=True))
    assert found["verdict"].tolist()[:2] == ["refuted (reduced)", "not refuted (reduced)"]
    assert found["why"][1] == "it is above by itself, and not when all 10 bounds are tested at once; w"
    assert together(pd.concat([ledger[1:2].assign(why=""), more]))["why"].iloc[0].endswith("are tested at once")


@pytest.mark.parametrize(("epsilon", "kept"), [(0.0, 0.5), (1.0, 0.7310585786300049), (700.0, 1.0)])
def test_the_bound_of_randomized_response_is_exact(epsilon, kept):
    assert response_auc(epsilon, 2) == pytest.approx(kept, abs=1e-15)


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_the_bound_of_randomized_response_is_the_area_under_its_two_worlds(classes):
    """By the probabilities of the true label, the other one, and those that are neither."""
    one = np.array([math.e, 1.0, classes - 2.0]) / (math.e + classes - 1)
    other = one[[1, 0, 2]]
    ratio = [1.0, -1.0, 0.0]
    above = sum(p * q * (0.5 + 0.5 * np.sign(a - b)) for p, a in zip(one, ratio, strict=True)
                for q, b in zip(other, ratio, strict=True))  # fmt: skip
    assert response_auc(1.0, classes) == pytest.approx(above, abs=1e-12)
