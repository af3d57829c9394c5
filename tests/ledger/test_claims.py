"""The verdicts: what holds, fails, differs, is undecided or gets none, on small tables made by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from cutlayer.core.errors import InputError
from cutlayer.ledger.cells import NO_SEED, WHO, bounds, num_seeds
from cutlayer.ledger.claims import Scale, judge
from cutlayer.ledger.statistics import interval

PUBLISHED = pd.DataFrame(
    [("table", "all", "attack", "mse", 0.10), ("table", "wine", "attack", "auc", 0.50)],
    columns=["item", "dataset", "method", "metric", "value"],
)


def table(values, d=1, seed=None, **who):
    """One row per value, seeds 0, 1, ...: the cells of an attack `a` on the real wine data."""
    common = dict.fromkeys(WHO, "") | {"setup": "wine", "dataset": "wine", "provenance": "real", "features": 13}
    common |= {"attack": "a", "metric": "mse", "d": d} | who
    rows = [common | {"seed": s if seed is None else seed, "value": v} for s, v in enumerate(values)]
    return pd.DataFrame(rows).assign(n=10, cases=1, skipped="")[[*WHO, "d", "seed", "value", "n", "cases", "skipped"]]


PLAIN = {"statement": "m mse", "depends_on_scale": True, "why": ""}  # what `families` gives every number


def at(scale):
    """Quick judges no printed number that depends on the scale."""
    return Scale(scale, numbers=scale != "quick")


def claim(cells, scale="paper", **check):
    check = {"exhibit": "e", "statistic": "value", "left": {"attack": "a"}} | check
    entry = {"text": "t", "place": "p", "check": check}
    return judge("paper", {"claims": {"c": entry}}, PUBLISHED, {"e": cells}, at(scale))


def verdict(cells, **check):
    (found,) = claim(cells, **check)["verdict"]
    return found


def number(cells, scale="paper", item="table", metric="mse", **entry):
    check = {"exhibit": "e", "statistic": "value", "left": {"attack": "a"}}
    entry = {"published": {"item": item, "metric": metric}, "check": check} | PLAIN | entry
    return judge("paper", {"claims": {}, "numbers": [entry]}, PUBLISHED, {"e": cells}, at(scale))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.10, 0.11, 0.12], "holds"),
        ([0.90, 0.91, 0.92], "fails"),
        ([0.10, 0.20, 0.90], "undecided"),
        ([0.10], "undecided"),
        ([0.90], "undecided"),
    ],
)
def test_a_claim_is_decided_by_its_whole_interval(values, expected):
    assert verdict(table(values), at_most=0.5) == expected
    assert verdict(table(np.subtract(1, values)), at_least=0.5) == expected


def test_a_claim_with_two_limits_fails_beyond_either():
    for center, expected in ((0.5, "holds"), (0.1, "fails"), (0.9, "fails"), (0.4, "undecided")):
        assert verdict(table([center - 0.01, center, center + 0.01]), at_least=0.4, at_most=0.6) == expected


def test_a_claim_at_its_limit_holds():
    assert verdict(table([0.5, 0.5, 0.5]), at_most=0.5) == "holds"
    assert verdict(table([0.5, 0.5, 0.5]), at_least=0.5) == "holds"


def test_a_claims_row_says_what_was_found():
    (row,) = claim(table([0.11, 0.12, 0.13]), at_most=0.5).to_dict("records")
    who = {"paper": "paper", "kind": "claim", "item": "c", "setup": "wine", "provenance": "real", "scale": "paper"}
    assert {key: row[key] for key in who} == who
    assert row["seeds"] == 3
    assert (row["ours"], row["low"], row["high"]) == pytest.approx(interval([0.11, 0.12, 0.13]))
    assert row["threshold"] == "value at most 0.5"


def test_each_setup_has_its_own_verdict():
    both = pd.concat([table([0.1, 0.1]), table([0.9, 0.9], setup="bank", dataset="bank")])
    assert list(claim(both, at_most=0.5)["verdict"]) == ["holds", "fails"]
    assert list(claim(both, at_most=0.5, setups=["bank"])["verdict"]) == ["fails"]


def test_stand_ins_get_no_verdict():
    cells = table([0.1, 0.1], provenance="stand-in")
    assert verdict(cells, at_most=0.5) == "stand-in"
    assert list(number(cells)["verdict"]) == ["stand-in"]


def test_a_scale_that_judges_no_printed_numbers_judges_claims_and_what_does_not_depend_on_it():
    assert verdict(table([0.1, 0.1]), scale="quick", at_most=0.5) == "holds"
    assert list(number(table([0.1, 0.1]), scale="quick")["verdict"]) == ["not at this scale"]
    assert list(number(table([0.1, 0.1]), scale="quick", depends_on_scale=False)["verdict"]) == ["holds"]


def test_facts_of_the_data_are_exact():
    fact = table([0.5], seed=NO_SEED)
    assert bounds(fact) == (0.5, 0.5, 0.5)
    assert num_seeds(fact) == 0
    assert verdict(fact, at_most=0.5) == "holds"
    assert verdict(fact, at_most=0.49) == "fails"
    assert list(number(fact, tolerance=0)["verdict"]) == ["differs"]
    assert list(number(table([0.1], seed=NO_SEED), tolerance=0)["verdict"]) == ["holds"]


def test_of_several_selections_the_least_counts_by_its_mean_over_seeds():
    parts = [table([0.3, 0.1], attack="b"), table([0.2, 0.4], attack="c"), table([0.15, 0.15])]
    (row,) = claim(
        pd.concat(parts), statistic="gap", left={"attack": "a"}, right=[{"attack": "b"}, {"attack": "c"}], at_most=9
    ).to_dict("records")
    assert row["ours"] == pytest.approx(0.15 - 0.2)


def test_a_gap_is_paired_by_seed():
    """Seeds that shift both sides alike leave the gap certain."""
    cells = pd.concat([table([0.1, 0.5, 0.9]), table([0.2, 0.6, 1.0], attack="b")])
    check = {"statistic": "gap", "right": {"attack": "b"}}
    assert verdict(cells, **check, at_most=-0.09) == "holds"
    assert verdict(cells, **check, at_least=0) == "fails"


def curve():
    """`a` at d = 1, 2, 3 beside the constant 0.25 of `b`, two seeds."""
    parts = [table([v, v], d=d) for d, v in ((1, 0.1), (2, 0.2), (3, 0.4))]
    return pd.concat([*parts, *(table([0.25, 0.25], d=d, attack="b") for d in (1, 2, 3))])


def test_what_differs_by_rounding_is_not_below():
    """Where the equations have one solution, the errors of exact attacks are 1e-28 and in no order."""
    exact = pd.concat([table([1e-28, 2e-28], d=1), table([0.2, 0.2], d=2)])
    cells = pd.concat([exact, table([2e-28, 1e-28], d=1, attack="b"), table([0.3, 0.3], d=2, attack="b")])
    (row,) = claim(cells, statistic="share_below", right={"attack": "b"}, at_least=0.6).to_dict("records")
    assert (row["ours"], row["low"], row["high"]) == (1.0, 1.0, 1.0)  # of the one place where they differ
    worse = cells.assign(value=cells["value"].where(cells["attack"] != "b", cells["value"] / 2))
    (row,) = claim(worse, statistic="share_below", right={"attack": "b"}, at_least=0.6).to_dict("records")
    assert (row["ours"], row["verdict"]) == (0.0, "fails")
    alike = cells[cells["d"] == 1]
    (row,) = claim(alike, statistic="share_below", right={"attack": "b"}, at_least=0.6).to_dict("records")
    assert (row["verdict"], row["why"]) == ("tie", "equal at every place")


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        ({"statistic": "value"}, 0.7 / 3),
        ({"statistic": "value", "at": "first"}, 0.1),
        ({"statistic": "value", "at": "last"}, 0.4),
        ({"statistic": "largest"}, 0.4),
        ({"statistic": "gap", "right": {"attack": "b"}}, 0.7 / 3 - 0.25),
        ({"statistic": "gap", "right": {"attack": "b"}, "at": "last"}, 0.15),
        ({"statistic": "largest_gap", "right": {"attack": "b"}}, 0.15),
        ({"statistic": "share_below", "right": {"attack": "b"}}, 2 / 3),
        ({"statistic": "value", "left": {"attack": ["a", "b"]}, "at": "first"}, 0.175),
        ({"statistic": "slope"}, 0.15),
        ({"statistic": "value", "left": [{"attack": "a"}, {"attack": "b"}]}, 0.7 / 3),
        ({"statistic": "value", "left": [{"attack": "a"}, {"attack": "b"}], "of_several": "most"}, 0.25),
        ({"statistic": "gap", "right": {"attack": "b"}, "at": "every"}, 0.15),
        ({"statistic": "gap", "right": {"attack": "b"}, "at": "every", "at_least": -8}, -0.15),
        ({"statistic": "gap", "right": {"attack": "b"}, "at": "every", "at_least": -10}, 0.15),
    ],
)
def test_a_statistic_of_a_curve(check, expected):
    (row,) = claim(curve(), at_most=9, **check).to_dict("records")
    assert row["ours"] == pytest.approx(expected)


def test_a_statement_about_every_case_is_held_against_the_worst_seed():
    spread = table([-9.0, -0.5, -0.1])
    assert verdict(spread, at_most=0) == "undecided"
    assert verdict(spread, statistic="largest", at_most=0) == "holds"
    assert verdict(table([-9.0, -0.5, 0.1]), statistic="largest", at_most=0) == "fails"


def test_a_slope_is_of_each_seed_and_needs_two_places():
    steps = pd.concat([table([0.1, 0.3], d=1), table([0.2, 0.6], d=2)])
    (row,) = claim(steps, statistic="slope", at_least=0).to_dict("records")
    assert (row["ours"], row["low"], row["high"]) == pytest.approx(interval([0.1, 0.3]))
    (row,) = claim(table([0.1, 0.3]), statistic="slope", at_least=0).to_dict("records")
    assert (row["verdict"], row["why"]) == ("undecided", "in 2 of 2 seeds there are fewer than two places")


@pytest.mark.parametrize(
    ("values", "tolerance", "expected"),
    [
        ([0.099, 0.10, 0.101], 0.02, "holds"),  # the whole interval is within
        ([0.115, 0.115, 0.115], 0.02, "holds"),
        ([0.115, 0.115, 0.115], 0.01, "differs"),
        ([0.12 - 1e-9, 0.12 - 1e-9], 0.02, "holds"),
        ([0.12 + 1e-9, 0.12 + 1e-9], 0.02, "differs"),
        ([0.08 - 1e-9, 0.08 - 1e-9], 0.02, "differs"),
        ([0.09, 0.10, 0.11], 0.02, "undecided"),  # part of it is
        ([0.13, 0.14, 0.15], 0.02, "undecided"),
        ([0.10], 0.02, "undecided"),
    ],
)
def test_a_number_holds_where_the_whole_interval_is_within_its_tolerance(values, tolerance, expected):
    (row,) = number(table(values), tolerance=tolerance).to_dict("records")
    assert row["verdict"] == expected
    assert row["difference"] == pytest.approx(np.mean(values) - 0.10)
    assert row["threshold"] == f"0.1 ± {tolerance}"


@pytest.mark.parametrize(("metric", "tolerance"), [("mse", 0.01), ("test_auc", 0.02), ("attack_accuracy", 0.02)])
def test_the_tolerance_is_relative_but_for_accuracies_and_aucs(metric, tolerance):
    """The printed number is 0.10."""
    for distance, expected in ((0.9 * tolerance, "holds"), (1.1 * tolerance, "differs")):
        cells = table([0.10 + distance] * 2, metric=metric, attack="")
        check = {"exhibit": "e", "statistic": "value", "left": {"attack": ""}}
        assert list(number(cells, check=check)["verdict"]) == [expected]


def test_a_number_is_compared_on_its_own_dataset():
    both = pd.concat([table([0.5, 0.5]), table([0.9, 0.9], setup="bank", dataset="bank")])
    assert list(number(both, metric="auc")["setup"]) == ["wine"]
    assert list(number(both, metric="mse")["setup"]) == ["wine", "bank"]


def test_the_reason_is_given_only_for_what_does_not_hold():
    assert list(number(table([0.1, 0.1]), why="erratum")["why"]) == [""]
    assert list(number(table([0.9, 0.9]), why="erratum")["why"]) == ["erratum"]


def test_a_missing_published_row_is_an_error():
    with pytest.raises(InputError, match=r"^published\.csv: has no row with .*'nowhere'"):
        number(table([0.1, 0.1]), item="nowhere")


def test_missing_cells_are_an_error():
    with pytest.raises(InputError, match=r"^claim on e: has no cells for setup 'bank'"):
        claim(table([0.1]), setups=["bank"], at_most=1)
    with pytest.raises(InputError, match=r"^claim on e: selects nothing"):
        claim(table([0.1]), left={"attack": "misspelt"}, at_most=1)


@pytest.mark.parametrize("values", [[0.1, 0.3], [1.0, 2.0, 4.0, 8.0], list(range(20))])
def test_the_interval_is_students(values):
    low, high = stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=stats.sem(values))
    assert interval(values) == pytest.approx((np.mean(values), low, high))


def test_one_value_has_no_interval():
    mean, low, high = interval([0.3])
    assert mean == 0.3
    assert math.isnan(low)
    assert math.isnan(high)


def failed(**who):
    """The cells of something that failed, for one of two seeds."""
    return table([math.nan], metric="", **who).assign(skipped="failed: ZeroDivisionError: no score is left")


def test_what_failed_gives_no_result_to_what_needs_it_and_to_nothing_else():
    cells = pd.concat([table([0.1, 0.1]), table([0.2, 0.2], attack="b"), failed(attack="c")])
    gap = {"statistic": "gap", "left": {"attack": "a"}, "at_most": 0}
    assert verdict(cells, **gap, right={"attack": "b"}) == "holds"
    for right in ({"attack": "c"}, {"attack": ["b", "c"]}, [{"attack": "b"}, {"attack": "c"}]):
        (row,) = claim(cells, **gap, right=right).to_dict("records")
        assert (row["verdict"], row["why"]) == ("no result", "failed: ZeroDivisionError: no score is left")
        assert math.isnan(row["ours"])


def test_one_seed_that_failed_leaves_no_result():
    cells = pd.concat([table([0.1, 0.1]), failed()])
    assert verdict(cells, at_most=0.5) == "no result"
    assert list(number(cells)["verdict"]) == ["no result"]


def test_a_run_that_failed_has_no_attack_but_is_what_every_attack_needs():
    cells = pd.concat([table([0.1, 0.1]), failed(attack="")])
    assert verdict(cells, at_most=0.5) == "no result"
    other = pd.concat([table([0.1, 0.1], defense="none"), failed(attack="", defense="other")])
    assert verdict(other, left={"attack": "a", "defense": "none"}, at_most=0.5) == "holds"


@pytest.mark.parametrize(
    ("left", "verdicts"),
    [
        ([0.2, 0.4, 0.6], ("holds", "fails")),
        ([0.105, 0.21, 0.315], ("fails", "holds")),
        ([0.1, 0.3, 0.8], ("undecided",) * 2),
    ],
)
def test_a_ratio_is_of_means_seed_by_seed(left, verdicts):
    """The right side is 0.1, 0.2 and 0.3: twice it holds "at least 1.5", a little more holds "at most 1.1"."""
    cells = pd.concat([table(left), table([0.1, 0.2, 0.3], attack="b")])
    check = {"statistic": "ratio", "right": {"attack": "b"}}
    assert (verdict(cells, **check, at_least=1.5), verdict(cells, **check, at_most=1.1)) == verdicts


def test_a_ratio_over_places_is_of_the_means():
    places = [table([a, a], d=d) for d, a in ((1, 1.0), (2, 3.0))] + [
        table([b, b], d=d, attack="b") for d, b in ((1, 4.0), (2, 4.0))
    ]
    (row,) = claim(pd.concat(places), statistic="ratio", right={"attack": "b"}, at_most=1).to_dict("records")
    assert row["ours"] == pytest.approx(0.5)


def test_a_ratio_to_nothing_is_undecided_with_a_reason():
    cells = pd.concat([table([0.1, 0.2]), table([0.0, 0.1], attack="b")])
    (row,) = claim(cells, statistic="ratio", right={"attack": "b"}, at_most=9).to_dict("records")
    assert (row["verdict"], row["why"]) == ("undecided", "in 1 of 2 seeds the right side is 0")


def not_applicable(**who):
    return table([math.nan], seed=NO_SEED, metric="", **who).assign(skipped="defense.marvell is for 2 classes")


def test_what_does_not_apply_has_no_result_and_says_why():
    cells = pd.concat([table([0.1, 0.1], defense="none"), not_applicable(defense="marvell", attack="")])
    check = {"left": {"defense": "marvell", "metric": "mse"}, "at_most": 0.5}
    (row,) = claim(cells, **check).to_dict("records")
    assert (row["verdict"], row["why"]) == ("no result", "defense.marvell is for 2 classes")
    assert verdict(cells, left={"defense": "none"}, at_most=0.5) == "holds"


def test_percent_is_compared_as_a_share():
    printed = PUBLISHED.assign(value=10.5)
    check = {"exhibit": "e", "statistic": "value", "left": {"attack": "a"}}
    entry = {"published": {"metric": "mse"}, "check": check, "unit": "percent"} | PLAIN
    cells = {"e": table([0.104, 0.105, 0.106])}
    (row,) = judge("p", {"claims": {}, "numbers": [entry]}, printed, cells, Scale("paper")).to_dict("records")
    assert (row["published"], row["verdict"]) == (pytest.approx(0.105), "holds")
    (row,) = judge("p", {"claims": {}, "numbers": [entry | {"unit": ""}]}, printed, cells, Scale("paper")).to_dict(
        "records"
    )
    assert (row["published"], row["verdict"]) == (10.5, "differs")


@pytest.mark.parametrize("scale", ["quick", "paper"])
@pytest.mark.parametrize("values", [[0.09, 0.1, 0.11], [0.9, 0.91, 0.92]])
def test_a_number_that_decided_a_reading_is_shown_and_not_judged(scale, values):
    (row,) = number(table(values), scale, decides=["noise", "inputs"]).to_dict("records")
    assert (row["verdict"], row["why"]) == ("decides a reading", "it decided how the text is read: noise, inputs")
    assert (row["published"], row["ours"]) == (0.10, pytest.approx(np.mean(values)))
    stood_in = number(table(values, provenance="stand-in"), scale, decides=["noise"])
    assert stood_in["verdict"].tolist() == ["stand-in"]


def test_a_number_without_a_counterpart_is_listed_with_the_reason():
    entry = {"published": {"item": "table", "metric": "mse"}, "without": "the log is private"} | PLAIN
    (row,) = judge("p", {"claims": {}, "numbers": [entry]}, PUBLISHED, {}, Scale("paper")).to_dict("records")
    assert (row["published"], row["verdict"], row["why"]) == (0.10, "not comparable", "the log is private")
