"""What a rule may say beside its check: across datasets, one-sided, of several readings, of a proven bound."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logit

from cutlayer.ledger.cells import WHO
from cutlayer.ledger.claims import Scale, _of_readings, judge
from cutlayer.ledger.scales import PRESENT
from cutlayer.reference.redrawn import OLDER

PRINTED = pd.DataFrame(
    [("t", "all", "d", "mse", 0.3), ("t", "all", "d", "attack_auc", 0.42)],
    columns=["item", "dataset", "method", "metric", "value"],
)
FULL = Scale("paper")
UP, FLAT, DOWN = [0.9, 1.0, 1.1], [-1.0, 0.0, 1.0], [-0.9, -1.0, -1.1]  # of differences, three seeds


def cells(values, dataset="wine", **who):
    """One row per value, seeds 0, 1, ...: defense `d` without an attack, on real data."""
    common = dict.fromkeys(WHO, "") | {"setup": dataset, "dataset": dataset, "provenance": "real", "features": 13}
    common |= {"defense": "d", "metric": "margin", "d": 0, "skipped": "", "n": 0, "cases": 1} | who
    rows = [common | {"seed": seed, "value": value} for seed, value in enumerate(values)]
    return pd.DataFrame(rows).assign(error=math.nan, tested=0, chance=math.nan)


def of(table, paper=None, scale=FULL, **entry):
    """All rows of one claim; its check is that the mean of `d` is at least 0."""
    check = {"exhibit": "e", "statistic": "value", "left": {"defense": "d"}, "at_least": 0}
    claim = {"text": "It is so.", "place": "p", "check": check} | entry
    content = {"claims": {"c": claim}, "datasets": ["wine", "bank", "robot"]} | (paper or {})
    return judge("paper", content, PRINTED, {"e": table}, scale).to_dict("records")


def one(table, **entry):
    (row,) = of(table, **entry)
    return row


def several(**values):
    return pd.concat([cells(own, name) for name, own in values.items()], ignore_index=True)


# Across datasets.


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"wine": UP, "bank": DOWN, "robot": DOWN}, "holds"),
        ({"wine": DOWN, "bank": DOWN, "robot": DOWN}, "fails"),
        ({"wine": FLAT, "bank": DOWN, "robot": DOWN}, "undecided"),
    ],
)
def test_that_it_is_so_somewhere_holds_in_one_dataset_and_fails_in_all(values, expected):
    row = one(several(**values), across="any")
    assert (row["verdict"], row["setup"], row["dataset"]) == (expected, "", "wine, bank, robot")


def test_it_is_shown_at_the_level_that_all_datasets_share():
    """Alone the 95% interval of one dataset is above 0, at a third of the level it is not."""
    values = np.array([-1.0, 0.0, 1.0]) / math.sqrt(3) + float(stats.t.ppf(0.975, 2)) / math.sqrt(9) * 1.05
    edge = [*(values)]
    assert one(cells(edge), across="any")["verdict"] == "holds"
    row = one(several(wine=edge, bank=DOWN, robot=DOWN), across="any")
    assert row["verdict"] == "undecided"
    spread = np.std(edge, ddof=1) / math.sqrt(3)
    assert row["low"] == pytest.approx(np.mean(edge) - float(stats.t.ppf(1 - 0.025 / 3, 2)) * spread)
    assert row["ours"] == pytest.approx(np.mean(edge))


def test_what_is_at_most_something_somewhere_is_held_against_the_least():
    check = {"exhibit": "e", "statistic": "value", "left": {"defense": "d"}, "at_most": 0}
    row = one(several(wine=UP, bank=DOWN), across="any", check=check)
    assert (row["verdict"], row["ours"]) == ("holds", pytest.approx(-1.0))


def test_only_the_papers_own_datasets_with_evidence_count():
    table = pd.concat([several(wine=DOWN, digits=UP), cells(UP, "bank", provenance="stand-in")])
    row = one(table, across="any")
    assert (row["verdict"], row["dataset"], row["provenance"]) == ("fails", "wine", "real")
    row = one(cells(UP, "bank", provenance="stand-in"), across="any")
    assert row["verdict"] == "stand-in"


def test_a_tie_shows_nothing_of_what_is_to_be_more():
    check = {"exhibit": "e", "statistic": "gap", "left": {"defense": "d"}, "right": {"defense": "o"}, "at_least": 0}
    tie = [cells(UP, name, defense=defense) for name in ("wine", "bank") for defense in ("d", "o")]
    assert one(pd.concat(tie), across="any", check=check)["verdict"] == "tie"
    table = pd.concat([*tie[:2], cells(DOWN, "bank"), cells([0.0] * 3, "bank", defense="o")])
    assert one(table, across="any", check=check)["verdict"] == "fails"


def test_the_mean_over_setups_has_the_squares_of_their_reaches():
    row = one(several(wine=UP, bank=[3.0, 4.0, 5.0]), across="mean")
    reach = float(stats.t.ppf(0.975, 2)) / math.sqrt(3) * math.hypot(0.1, 1.0) / 2
    assert (row["ours"], row["low"], row["high"]) == tuple(map(pytest.approx, (2.5, 2.5 - reach, 2.5 + reach)))
    assert (row["verdict"], row["seeds"]) == ("holds", 3)


def test_a_mean_needs_every_setup_and_has_the_weakest_provenance():
    table = pd.concat([cells(UP), cells(UP, "bank", provenance="sample")])
    assert (one(table, across="mean")["provenance"], one(table, across="mean")["size"]) == (
        "sample", "reduced: the data are a sample",
    )  # fmt: skip
    assert one(pd.concat([cells(UP), cells(UP, "bank", provenance="stand-in")]), across="mean")["verdict"] == "stand-in"
    failed = cells([math.nan] * 3, "bank").assign(skipped="failed: no memory")
    assert one(pd.concat([cells(UP), failed]), across="mean")["verdict"] == "no result"


@pytest.mark.parametrize(("across", "ours"), [("mean", 0.15), ("sum", 0.3)])
def test_a_number_for_all_datasets_is_held_against_their_mean_or_sum(across, ours):
    check = {"exhibit": "e", "statistic": "value", "left": {"metric": "mse"}}
    entry = {"published": {"metric": "mse"}, "check": check, "statement": "d", "why": "", "depends_on_scale": False}
    content = {"claims": {}, "datasets": ["wine", "bank"], "numbers": [entry | {"across": across}]}
    table = several(wine=[0.1] * 3, bank=[0.2] * 3, digits=[9.0] * 3).assign(metric="mse")
    (row,) = judge("paper", content, PRINTED, {"e": table}, FULL).to_dict("records")
    assert (row["ours"], row["verdict"]) == (pytest.approx(ours), "holds" if across == "sum" else "differs")
    assert (row["setup"], row["dataset"], row["kind"]) == ("", "wine, bank", "number")


def test_a_number_is_the_papers_also_where_its_setup_has_not_been_run():
    check = {"exhibit": "e", "statistic": "value", "left": {"metric": "mse"}, "setups": ["wine", "wine_all"]}
    entry = {"published": {"metric": "mse"}, "check": check, "statement": "d", "why": "", "depends_on_scale": False}
    table, printed = cells([0.1] * 3, metric="mse"), PRINTED[PRINTED["metric"] == "mse"].assign(dataset="wine")
    content = {"claims": {}, "datasets": ["wine", "bank"], "numbers": [entry]}
    rows = judge("paper", content, printed, {"e": table}, Scale("paper", absent=OLDER)).to_dict("records")
    assert [row["verdict"] for row in rows] == ["differs", "no result"]
    assert [(row["kind"], row["dataset"], row["statement"]) for row in rows] == [("number", "wine", "d")] * 2


# One-sided.


def test_what_the_paper_does_not_fold_is_read_as_it_is_scored_and_its_leak_stands_beside():
    table = cells([0.40, 0.42, 0.44], attack="a", metric="attack_auc")
    check = {"exhibit": "e", "statistic": "value", "left": {"attack": "a"}, "at_most": 0.5}
    folded, scored = one(table, check=check), one(table, check=check | {"sides": "one"})
    assert (folded["ours"], folded["verdict"]) == (pytest.approx(0.58), "fails")
    assert math.isnan(folded["folded"])
    assert (scored["ours"], scored["verdict"], scored["folded"]) == (pytest.approx(0.42), "holds", pytest.approx(0.58))


@pytest.mark.parametrize("sides", [{}, {"sides": "one"}])
def test_nor_is_what_it_prints(sides):
    check = {"exhibit": "e", "statistic": "value", "left": {"attack": "a"}} | sides
    entry = {
        "published": {"metric": "attack_auc"},
        "check": check,
        "statement": "d",
        "why": "",
        "depends_on_scale": False,
    }
    table = cells([0.42] * 3, attack="a", metric="attack_auc")
    (row,) = judge("paper", {"claims": {}, "numbers": [entry]}, PRINTED, {"e": table}, FULL).to_dict("records")
    assert row["difference"] == pytest.approx(0)
    assert row["threshold"].startswith("0.42 ±" if sides else "0.58 ±")


# Readings.


def readings(**limits):
    """The claim that the mean is at least so much, read in several ways."""
    checks = {name: {"exhibit": "e", "statistic": "value", "left": {"defense": name}, "at_least": 0} for name in limits}
    table = pd.concat([cells(values, defense=name) for name, values in limits.items()])
    return one(table, check=next(iter(checks.values())), readings=checks, why="it is noisy")


@pytest.mark.parametrize(
    ("first", "second", "verdict", "reading", "ours"),
    [
        (UP, DOWN, "holds", "raw", 1.0),
        (DOWN, UP, "holds", "softmax", 1.0),
        (DOWN, DOWN, "fails", "raw, softmax", -1.0),
        (DOWN, FLAT, "undecided", "raw", -1.0),
        (FLAT, DOWN, "undecided", "raw", 0.0),
    ],
)
def test_a_claim_holds_under_one_reading_and_fails_under_all(first, second, verdict, reading, ours):
    row = readings(raw=first, softmax=second)
    assert (row["verdict"], row["reading"], row["ours"]) == (verdict, reading, pytest.approx(ours, abs=1e-12))


def test_a_claim_that_holds_says_under_which_readings_it_fails():
    assert readings(raw=UP, softmax=DOWN, folded=DOWN)["why"] == "fails under softmax, folded"
    assert readings(raw=UP, softmax=FLAT)["why"] == ""


def test_what_no_reading_decides_says_what_each_does():
    assert readings(raw=DOWN, softmax=FLAT)["why"] == "raw: fails; softmax: undecided"
    assert readings(raw=DOWN, softmax=DOWN)["why"] == "it is noisy"


def test_how_many_seeds_would_decide_is_said_of_each_reading_where_they_differ():
    """What decides the first reading need not decide the row, which holds under any and fails under all."""
    close, far = [-1.0, 1.2, -0.4], [-1.0, 2.2, 0.3]
    why = readings(raw=far, softmax=close)["why"].split("; ")
    assert [part.partition(": ")[0] for part in why] == ["it is noisy", "raw", "softmax"]
    assert why[1].partition(": ")[2] != why[2].partition(": ")[2]
    assert readings(raw=far, softmax=far)["why"].count("seeds") == 1


def test_a_reading_that_was_not_run_keeps_the_claim_from_failing():
    checks = {
        name: {"exhibit": name, "statistic": "value", "left": {"defense": "d"}, "at_least": 0} for name in ("e", "f")
    }
    row = one(cells(DOWN), check=checks["e"], readings=checks, scale=Scale("paper", absent=OLDER))
    assert (row["verdict"], row["why"]) == ("undecided", "e: fails; f: no result")


def test_of_readings_that_nothing_was_judged_of_the_row_has_the_first_ones_verdict():
    """Undecided is what is on both sides of a limit, not what was never held against it."""
    table = pd.concat([cells(UP, defense="made", provenance="stand-in")])
    checks = {name: {"exhibit": "e", "statistic": "value", "left": {"defense": name}, "at_least": 0}
              for name in ("made", "absent")}  # fmt: skip
    row = one(table, check=checks["made"], readings=checks, scale=Scale("paper", absent=OLDER))
    assert (row["verdict"], row["reading"]) == ("stand-in", "made")


def test_of_readings_that_had_nothing_to_compare_the_row_has_the_first_ones_verdict():
    rows = {
        name: {"verdict": verdict, "why": name, "reading": "", PRESENT: 1, "size": "reduced"}
        for name, verdict in [("one", "no common range (reduced)"), ("two", "no result"), ("three", "fails (reduced)")]
    }
    two = {name: dict(rows[name]) for name in ("one", "two")}
    assert {**_of_readings(two), "size": ""} == two["one"] | {"reading": "one", PRESENT: 2, "size": ""}
    assert _of_readings(rows)["verdict"] == "undecided (reduced)"


@pytest.mark.parametrize(
    ("two", "why"), [("in 5 of 5 seeds", "one: in 1 of 5 seeds; two: in 5 of 5 seeds"), ("in 1 of 5 seeds",) * 2]
)
def test_in_how_many_seeds_there_is_no_common_range_is_said_of_each_reading_where_they_differ(two, why):
    row = {"verdict": "no common range", "reading": "", PRESENT: 1, "size": "reduced"}
    found = _of_readings({"one": row | {"why": "in 1 of 5 seeds"}, "two": row | {"why": two}})
    assert (found["verdict"], found["reading"], found["why"]) == ("no common range", "one", why)


# Proven bounds.


def bounded(values, statistic="value", at_most=0.68, metric="attack_auc", **who):
    who |= {"attack": "a"} if metric == "attack_auc" else {}
    check = {"exhibit": "e", "statistic": statistic, "left": {"metric": metric}, "at_most": at_most, "bound": "proven"}
    return one(cells(values, metric=metric, **who), check=check, why="it is an erratum")


def test_a_proven_bound_is_never_said_to_hold_or_to_fail():
    row = bounded([0.50, 0.51, 0.52])
    assert (row["verdict"], row["why"], row["p"] > 0.5) == ("not refuted", "", True)
    row = bounded([0.79, 0.8, 0.81])
    assert (row["verdict"], row["why"], row["p"] < 0.01) == ("refuted", "it is an erratum", True)
    assert bounded([0.678, 0.679, 0.68])["verdict"] == "attained"
    assert bounded([0.5, 0.7, 0.9])["verdict"] == "not refuted"


def test_its_p_value_is_that_of_the_excess():
    values = np.array([0.4, 0.6, 0.5]) + 0.25
    expected = stats.ttest_1samp(values, 0.68, alternative="greater").pvalue
    row = bounded([*values], metric="theorem1_bound")
    assert row["p"] == pytest.approx(expected)
    aucs = np.array([0.72, 0.74, 0.76])  # on the logit scale, whose slope at 0.74 is 0.74 * 0.26
    apart = (logit(0.74) - logit(0.68)) * 0.74 * 0.26
    assert bounded([*aucs])["p"] == pytest.approx(stats.t.sf(apart / (0.02 / math.sqrt(3)), 2))


def test_a_theorem_is_not_refuted_by_rounding_and_is_no_part_of_what_is_tested():
    row = bounded([4e-16, 1e-16], "largest", 0.0, "rcc2_over_half_star_excess")
    assert (row["verdict"], math.isnan(row["p"])) == ("not refuted", True)
    row = bounded([4e-16, 0.0217], "largest", 0.0, "rcc2_over_half_star_excess")
    assert (row["verdict"], row["p"]) == ("refuted", 0.0)


def test_beyond_either_limit_it_is_refuted():
    check = {"exhibit": "e", "statistic": "value", "left": {"defense": "d"}, "at_least": 0.1, "at_most": 0.2}
    for middle, word in ((0.01, "refuted"), (0.31, "refuted"), (0.15, "not refuted")):
        values = [middle - 0.01, middle, middle + 0.01]
        assert one(cells(values), check=check | {"bound": "proven"})["verdict"] == word


# A run that is older than its rules.


@pytest.mark.parametrize(
    "check",
    [{"left": {"defense": "new"}}, {"left": {"defense": "d"}, "setups": ["new"]}, {"left": {"attack": "new"}}],
)
def test_of_cells_that_an_older_run_does_not_have_there_is_no_result(check):
    check = {"exhibit": "e", "statistic": "value", "at_least": 0} | check
    row = one(cells(UP), check=check, scale=Scale("paper", absent=OLDER))
    assert (row["verdict"], row["why"]) == ("no result", OLDER)


@pytest.mark.parametrize(
    ("softmax", "raw", "verdict", "reading"),
    [
        ([0.300, 0.301, 0.302], UP, "holds", "softmax"),
        (UP, [0.300, 0.301, 0.302], "holds", "raw"),
        (UP, UP, "differs", "softmax, raw"),
        (UP, DOWN, "undecided", "softmax"),
        (UP, FLAT, "undecided", "softmax"),
    ],
)
def test_a_printed_number_differs_only_under_all_readings_and_on_one_side(softmax, raw, verdict, reading):
    table = pd.concat([cells(own, defense=name, metric="mse") for name, own in (("softmax", softmax), ("raw", raw))])
    checks = {name: {"exhibit": "e", "statistic": "value", "left": {"defense": name}} for name in ("softmax", "raw")}
    entry = {"published": {"item": "t", "metric": "mse"}, "statement": "m mse", "depends_on_scale": True, "why": ""}
    entry |= {"check": checks["softmax"], "readings": checks}
    (row,) = judge("paper", {"claims": {}, "numbers": [entry]}, PRINTED, {"e": table}, FULL).to_dict("records")
    assert (row["verdict"], row["reading"], row["published"]) == (verdict, reading, 0.3)
    assert (row["why"] == "softmax: differs (above); raw: differs (below)") == (raw is DOWN)
