"""Verdicts worth believing: each case that a review found against the first rules, on small tables made by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.ledger.cells import NO_SEED, WHO
from cutlayer.ledger.claims import Scale, judge

PRINTED = pd.DataFrame(
    [
        ("t", "wine", "d", "test_auc", 0.47),
        ("t", "wine", "d", "mse", 0.083),
        ("t", "wine", "d", "attack_utility", 0.48),
    ],
    columns=["item", "dataset", "method", "metric", "value"],
)
FULL = Scale("paper")


def cells(values, place=0, chance=math.nan, tested=0, **who):
    """One row per value, seeds 0, 1, ...: defense `d` without an attack, on real data called wine."""
    common = dict.fromkeys(WHO, "") | {"setup": "wine", "dataset": "wine", "provenance": "real", "features": 13}
    common |= {"defense": "d", "metric": "mse", "d": place, "skipped": "", "n": 0, "cases": 1} | who
    error = [math.sqrt(max(v * (1 - v), 0) / tested) if tested else math.nan for v in values]
    rows = [common | {"seed": s, "value": v, "error": e} for s, (v, e) in enumerate(zip(values, error, strict=True))]
    return pd.DataFrame(rows).assign(tested=tested, chance=chance)


def none(**who):
    return cells([math.nan], **who).assign(seed=NO_SEED)


def claims(table, scale=FULL, paper=None, entry=None, **check):
    check = {"exhibit": "e", "statistic": "value", "left": {"defense": "d"}} | check
    content = {"claims": {"c": {"text": "It is so.", "place": "p", "check": check} | (entry or {})}} | (paper or {})
    return judge("paper", content, PRINTED, {"e": table}, scale)


def claim(*tables, **check):
    (row,) = claims(pd.concat(tables, ignore_index=True), **check).to_dict("records")
    return row


def verdict(*tables, **check):
    return claim(*tables, **check)["verdict"]


def number(table, metric="test_auc", scale=FULL, **entry):
    check = {"exhibit": "e", "statistic": "value", "left": {"defense": "d", "metric": metric}}
    entry = {
        "published": {"metric": metric},
        "check": check,
        "statement": "d",
        "why": "",
        "depends_on_scale": True,
    } | entry
    (row,) = judge("paper", {"claims": {}, "numbers": [entry]}, PRINTED, {"e": table}, scale).to_dict("records")
    return row


# 1. A number holds the less easily the noisier we are.


def test_an_interval_of_nearly_everything_is_not_inside():
    """Table 1 of secdt, spectral attack on Criteo: 0.47 is printed; Student's interval is from -0.23 to 1.17."""
    row = number(cells([0.10, 0.66, 0.65], metric="test_auc"))
    assert (0 < row["low"] < 0.1, 0.9 < row["high"] < 1, row["verdict"]) == (True, True, "undecided")


@pytest.mark.parametrize("off", [0.0, 0.01, 0.03, 0.1])
@pytest.mark.parametrize("spread", [0.0, 0.001, 0.01, 0.1])
def test_more_noise_never_makes_a_number_hold(off, spread):
    center, found = 0.47 + off, []
    for apart in (spread, 2 * spread, 10 * spread, 1.0):
        found.append(number(cells([center - apart, center, center + apart], metric="test_auc"))["verdict"] == "holds")
    assert found == sorted(found, reverse=True)


def test_few_tested_rows_are_noise_too():
    seeds = [0.47, 0.471, 0.469]
    assert number(cells(seeds, metric="test_auc"))["verdict"] == "holds"
    assert number(cells(seeds, metric="test_auc", tested=300))["verdict"] == "undecided"


# 2. The largest of several is not picked in each seed.


def lambdas(draw, seeds=3, rows=300):
    """Accuracies of five settings that are equally good, each of so many rows."""
    return [cells(draw.binomial(rows, 0.8, seeds) / rows, setting=f"w={k}", metric="test_accuracy") for k in range(5)]


def test_the_largest_of_five_equal_settings_is_not_said_to_lose():
    """By the maximum of each seed 14% of such tables failed; 5% are allowed."""
    others = [{"setting": f"w={k}"} for k in range(1, 5)]
    check = {"statistic": "gap", "left": {"setting": "w=0"}, "right": others, "of_several": "most", "at_least": 1e-9}
    draw = generator("five equal settings")
    found = [verdict(*lambdas(draw), **check) for _ in range(60)]
    assert found.count("fails") <= 3
    assert found.count("holds") <= 3


def test_the_largest_of_five_that_is_larger_in_every_comparison_holds():
    others = [{"setting": f"w={k}"} for k in range(1, 5)]
    check = {"statistic": "gap", "left": {"setting": "w=0"}, "right": others, "of_several": "most", "at_least": 1e-9}
    tables = [cells([m - 0.001, m, m + 0.001], setting=f"w={k}") for k, m in enumerate((0.9, 0.5, 0.6, 0.7, 0.8))]
    assert verdict(*tables, **check) == "holds"
    assert (
        verdict(*tables, **check | {"left": {"setting": "w=4"}, "right": [{"setting": "w=0"}, *others[:3]]}) == "fails"
    )


def test_what_is_said_of_every_place_is_held_against_each_of_them():
    """Two curves 0.015 apart at six places, seeds 0.01 apart: the largest of 18 is above 0.02, no mean is."""
    draw = generator("two near curves")
    tables = []
    for place in range(6):
        base = draw.normal(0.5, 0.1, 8)
        tables += [cells(base, place), cells(base + 0.015 + draw.normal(0, 0.01, 8), place, defense="other")]
    check = {"statistic": "gap", "left": {"defense": "other"}, "right": {"defense": "d"}, "at_most": 0.02}
    assert verdict(*tables, **check, at="every") != "fails"
    assert verdict(*tables, **check | {"at_most": 0.04}, at="every") == "holds"
    assert verdict(*tables, **check | {"at_most": -0.01}, at="every") == "fails"
    tables[0]["value"] -= 1  # one place alone
    assert verdict(*tables, **check, at="every") == "fails"


# 3. Leak is two-sided.


def leaks(auc, **who):
    return cells(auc, attack="norm", metric="leak_auc_mean", **who)


def test_an_auc_far_below_one_half_leaks():
    """Below dp on digits: an AUC of 0.1 leaks 0.9, more than 0.7."""
    check = {"statistic": "gap", "left": {"defense": "d"}, "right": {"defense": "dp"}, "at_most": 0}
    tables = leaks([0.10, 0.11, 0.12]), leaks([0.70, 0.71, 0.72], defense="dp")
    assert verdict(*tables, **check) == "fails"


def test_an_auc_of_zero_is_not_the_safest_point():
    row = claim(leaks([0.0, 0.0]), at_most=0.6)
    assert (row["ours"], row["verdict"]) == (1.0, "fails")


def test_which_way_round_a_score_is_read_is_chosen_once_a_training():
    """Useless scores of single batches are on either side of 1/2: their mean leaks nothing."""
    batches = [leaks([a, 1 - a], place=k) for k, a in enumerate((0.4, 0.6, 0.45, 0.55))]
    assert claim(*batches, at_most=0.6)["ours"] == pytest.approx(0.5)


def test_a_printed_auc_below_one_half_is_read_two_sided_and_shown_as_printed():
    table = cells([0.519, 0.52, 0.521], attack="norm", metric="attack_utility", chance=0.5)
    row = number(table, "attack_utility")
    assert (row["published"], row["verdict"], row["difference"]) == (0.48, "holds", pytest.approx(0))


# 4. What is said of every case is held against the worst.


def test_the_starting_point_is_below_the_threshold_in_every_seed():
    """Th = 0.001, all seeds are below and one is near: their interval reaches above."""
    start = [cells([0.0001, 0.0002, 0.00099]), cells([0.5, 0.5, 0.5], place=9)]
    check = {"at": "first", "at_most": 0.001}
    assert verdict(*start, **check) == "undecided"
    assert verdict(*start, statistic="largest", **check) == "holds"
    start[0].loc[start[0]["seed"] == 1, "value"] = 0.0011
    assert verdict(*start, statistic="largest", **check) == "fails"


# 5. Without signal there is nothing to judge.


def trained(accuracy, majority, tested=300, **who):
    return cells(accuracy, metric="test_accuracy", chance=majority, tested=tested, **who)


def attacked(accuracy, majority, tested=300, **who):
    return cells(accuracy, attack="dpa", metric="attack_accuracy", chance=majority, tested=tested, **who)


UTILITY = {"statistic": "gap", "left": {"defense": "d", "metric": "test_accuracy"}, "at_least": -0.02}
UTILITY |= {"right": {"defense": "none", "metric": "test_accuracy"}}
LEAK = {"statistic": "gap", "left": {"defense": "d", "attack": "dpa"}, "right": {"defense": "none", "attack": "dpa"}}


def test_a_model_no_better_than_the_most_common_class_decides_nothing():
    """CIFAR-10 at an accuracy of 0.15 of ten classes."""
    tables = trained([0.09, 0.10, 0.11], 0.13), trained([0.14, 0.15, 0.16], 0.13, defense="none")
    row = claim(*tables, **UTILITY)
    assert row["verdict"] == "no signal"
    assert "test_accuracy 0.150, chance 0.130" in row["why"]
    learned = trained([0.69, 0.70, 0.71], 0.13), trained([0.80, 0.81, 0.82], 0.13, defense="none")
    assert verdict(*learned, **UTILITY) == "fails"


def test_an_attack_below_chance_shows_nothing_about_a_defense():
    """DPA on Adult's relationship: 12% where the most common value has 39%."""
    model = trained([0.80, 0.81, 0.82], 0.7), trained([0.80, 0.81, 0.82], 0.7, defense="none")
    useless = attacked([0.10, 0.11, 0.12], 0.39), attacked([0.12, 0.13, 0.14], 0.39, defense="none")
    assert verdict(*model, *useless, **LEAK, at_most=0) == "no signal"
    useful = attacked([0.40, 0.41, 0.42], 0.39), attacked([0.60, 0.61, 0.62], 0.39, defense="none")
    assert verdict(*model, *useful, **LEAK, at_most=0) == "holds"


def test_an_attack_that_is_better_than_chance_in_another_metric_shows_nothing_in_this_one():
    """An AUC is surely above one half long before an accuracy is above the share of a common value."""
    model = trained([0.80, 0.81, 0.82], 0.7), trained([0.80, 0.81, 0.82], 0.7, defense="none")
    leaks = attacked([0.70, 0.71, 0.72], 0.7), attacked([0.70, 0.72, 0.74], 0.7, defense="none")
    ranked = {"attack": "dpa", "metric": "attack_auc", "chance": 0.5, "tested": 300, "place": 1}
    aucs = cells([0.60, 0.61, 0.62], **ranked), cells([0.70, 0.71, 0.72], **ranked, defense="none")
    by = {side: LEAK[side] | {"metric": "attack_accuracy"} for side in ("left", "right")}
    assert verdict(*model, *leaks, *aucs, **LEAK | by, at_most=0) == "no signal"
    by = {side: LEAK[side] | {"metric": "attack_auc"} for side in ("left", "right")}
    assert verdict(*model, *leaks, *aucs, **LEAK | by, at_most=0) == "holds"


def test_an_attack_that_is_said_to_work_may_fail_to():
    """Whether the undefended run leaks is then the question, and not what is asked before it."""
    tables = trained([0.80, 0.81, 0.82], 0.7, defense="none"), attacked([0.12, 0.13, 0.14], 0.39, defense="none")
    assert verdict(*tables, left={"defense": "none", "attack": "dpa"}, at_least=0.41) == "fails"


def test_the_best_of_many_guesses_leaks_only_where_the_last_one_does():
    """DPA on diabetes: its best epoch is above a guess, its last one below, and no attack is better than chance."""
    model = trained([0.80, 0.81, 0.82], 0.7, defense="none")
    best = cells([0.70, 0.71, 0.72], attack="dpa", metric="attack_accuracy_max", defense="none", tested=300)
    check = {"left": {"defense": "none", "attack": "dpa", "metric": "attack_accuracy_max"}, "at_least": 0.57}
    last = attacked([0.53, 0.54, 0.55], 0.55, defense="none", place=1)
    assert verdict(model, best, last, **check) == "no signal"
    assert verdict(model, best, last.assign(value=[0.68, 0.69, 0.70]), **check) == "holds"


@pytest.mark.parametrize(("found", "lacks"), [(0.575, False), (0.55, True)])
def test_how_often_a_rival_was_run_takes_no_signal_from_an_attack(found, lacks):
    """De-censoring on diabetes, two runs, beside a retrained adversary of five, none of them undefended."""
    once = [found - 0.002, found, found + 0.002]
    often = [attacked([0.48, 0.5, 0.52], 0.5, place=k, setting=f"w={k}").assign(attack="rival") for k in range(6)]
    tables = trained([0.8, 0.81, 0.82], 0.5), attacked(once, 0.5, setting="w=0"), *often
    sides = {"left": {"attack": "dpa"}, "right": {"attack": "rival", "setting": "w=0"}}
    assert (verdict(*tables, statistic="gap", **sides, at_least=0) == "no signal") is lacks


@pytest.mark.parametrize(("at_0", "at_1", "lacks"), [(0.8, 0.5, False), (0.5, 0.8, True)])
def test_where_no_run_is_undefended_those_with_a_weight_of_0_decide(at_0, at_1, lacks):
    values = {0.0: at_0, 1.0: at_1}
    tables = [attacked([v - 0.01, v, v + 0.01], 0.5, setting=f"weight={k}") for k, v in values.items()]
    check = {"left": {"attack": "dpa", "setting": "weight=1.0"}, "at_most": 0.9}
    assert (verdict(trained([0.8, 0.81, 0.82], 0.5), *tables, **check) == "no signal") is lacks


def test_sweeps_that_never_meet_are_not_compared_where_no_attack_is_better_than_chance():
    """Signal is asked first: what leaks nothing has no range of leak to compare over."""
    far = sweep("a", [(0.5, 0.9), (0.55, 0.95)]), sweep("b", LINE)
    tables = [one.assign(tested=300) for one in far]
    guess = cells([0.49, 0.5, 0.51], attack="norm", metric="leak_auc", chance=0.5, tested=300, defense="none")
    model = cells([0.8, 0.81, 0.82], metric="test_auc", chance=0.5, tested=300, defense="none")
    assert verdict(*tables, model, guess, **TRADED) == "no signal"
    assert verdict(*tables, model, guess.assign(value=[0.9, 0.91, 0.92]), **TRADED) == "no common range"


def test_one_row_in_each_of_three_seeds_is_not_certain():
    """Diabetes has 63 test rows: a difference of one in each seed has an interval of width zero over seeds."""
    first, second = np.array([45, 44, 46]) / 63, np.array([44, 43, 45]) / 63
    tables = trained(first, 0.5, 63), trained(second, 0.5, 63, defense="none")
    row = claim(*tables, **UTILITY | {"at_least": -1, "at_most": 0})
    assert row["ours"] == pytest.approx(1 / 63)
    assert row["verdict"] == "undecided"


def test_where_no_run_is_undefended_the_best_of_all_decides():
    settings = [trained([0.2, 0.21, 0.22], 0.2, setting="w=1"), trained([0.7, 0.71, 0.72], 0.2, setting="w=0")]
    check = {"statistic": "gap", "left": {"setting": "w=1"}, "right": {"setting": "w=0"}, "at_most": 0}
    assert verdict(*settings, **check) == "holds"
    settings[1] = trained([0.2, 0.21, 0.23], 0.2, setting="w=0")
    assert verdict(*settings, **check) == "no signal"


def test_what_is_said_of_every_training_is_said_of_bad_ones_too():
    tables = trained([0.1, 0.1], 0.5, defense="none"), cells([0.0, 0.0], metric="threshold_broken", tested=300)
    assert verdict(*tables, statistic="largest", left={"metric": "threshold_broken"}, at_most=0) == "holds"


# 6. What a paper does not say of some data is ours there.


def test_a_sentence_about_other_data_is_ours():
    both = pd.concat([cells([0.1, 0.1]), cells([0.9, 0.9], setup="adult", dataset="adult")])
    found = claims(both, paper={"datasets": ["wine"]}, at_most=0.5)
    assert list(found["kind"]) == ["claim", "ours"]
    assert list(found["statement"]) == ["It is so.", "Ours. It is so."]
    assert list(found["verdict"]) == ["holds", "fails"]


def test_a_sentence_may_be_about_some_of_the_papers_data_or_about_none():
    both = pd.concat([cells([0.1, 0.1]), cells([0.9, 0.9], setup="adult", dataset="adult")])
    for datasets, kinds in ((["adult"], ["ours", "claim"]), ([], ["ours", "ours"])):
        found = claims(both, paper={"datasets": ["wine", "adult"]}, entry={"datasets": datasets}, at_most=0.5)
        assert list(found["kind"]) == kinds


# 7. Evidence in part is no evidence.


def test_one_of_four_steps_is_not_the_four_steps():
    """Observation 2 of marvell on digits: only step 100 is there."""
    left_out = cells([math.nan] * 2, setting="step=200", metric="").assign(skipped="for trainings of which step 200 is")
    row = claim(cells([0.1, 0.1], setting="step=100"), left_out, left={"metric": "mse"}, at_most=0.5)
    assert (row["verdict"], row["why"]) == ("no result", "only in part: for trainings of which step 200 is")
    assert math.isnan(row["ours"])


@pytest.mark.parametrize("check", [{"at": "every", "at_most": 0.01}, {"statistic": "largest", "at_most": 0.01}])
def test_a_place_that_one_seed_alone_has_is_not_every_place(check):
    small, large = cells([0.001, 0.0011, 0.0012], place=1), cells([0.9], place=2)
    row = claim(small, large, **check)
    assert (row["verdict"], row["why"]) == ("no result", "only in part: not all is of the same seeds and places")
    assert claim(small, cells([0.9] * 3, place=2), **check)["verdict"] == "fails"


def test_a_part_that_is_named_and_not_there_is_missing():
    row = claim(cells([0.1, 0.1], setting="a"), left={"setting": ["a", "b"]}, at_most=0.5)
    assert (row["verdict"], row["why"]) == ("no result", "only in part: the run has no setting b")


def test_a_setting_that_a_scale_does_not_have_is_missing_and_a_method_that_is_misspelt_an_error():
    row = claim(cells([0.1, 0.1], setting="w=1"), left={"setting": "w=2"}, at_most=0.5)
    assert (row["verdict"], row["why"]) == ("no result", "the run has no setting w=2")
    with pytest.raises(InputError, match="selects nothing"):
        claim(cells([0.1, 0.1], setting="w=1"), left={"defense": "misspelt", "setting": "w=1"}, at_most=0.5)


def test_a_setting_that_a_scale_has_in_other_setups_only_is_missing():
    """Linear scalarization of faces at scale quick: the exhibit shows one weight, of which there is none."""
    here, there = cells([0.1, 0.1]), cells([0.1, 0.1], setup="other", defense="linear", setting="w=1")
    row = claim(here, there, left={"defense": "linear", "setting": "w=1"}, setups=["wine"], at_most=0.5)
    assert (row["verdict"], row["why"]) == ("no result", "the run has no setting w=1")


def test_published_cells_that_have_a_method_in_other_setups_only_are_not_short_of_a_setting():
    """The first epoch's attacks of the arena: a run that is older has the setting, and none of their cells."""
    here, there = (
        cells([0.1, 0.1], setting="w=1"),
        cells([0.1, 0.1], setup="other", setting="w=1", attack="first_epoch"),
    )
    check = {"left": {"defense": "d", "setting": "w=1", "attack": "first_epoch"}, "setups": ["wine"], "at_most": 0.5}
    (row,) = claims(pd.concat([here, there]), Scale("paper", absent="it is older"), **check).to_dict("records")
    assert (row["verdict"], row["why"]) == ("no result", "it is older")


def test_a_place_that_is_left_out_is_missing():
    skipped = cells([math.nan, math.nan], 9, metric="").assign(skipped="too many features for this attack")
    assert verdict(cells([0.1, 0.1]), skipped, at_most=0.5) == "no result"


def test_sides_of_different_seeds_are_not_compared():
    check = {"statistic": "gap", "left": {"defense": "d"}, "right": {"defense": "e"}, "at_most": 9}
    assert verdict(cells([0.1, 0.2, 0.3]), cells([0.1, 0.2], defense="e"), **check) == "no result"


def test_where_both_sides_are_asked_for_places_of_one_are_left_out():
    tables = [cells([0.1, 0.1], 1), cells([0.3, 0.3], 1, defense="e"), cells([0.9, 0.9], 2)]
    tables.append(cells([math.nan] * 2, 2, defense="e", metric="").assign(skipped="no strength gives it"))
    check = {"statistic": "gap", "left": {"defense": "d"}, "right": {"defense": "e"}, "at_most": 0}
    assert verdict(*tables, **check) == "no result"
    row = claim(*tables, **check, where="both")
    assert (row["verdict"], row["ours"]) == ("holds", pytest.approx(-0.2))


def test_an_attack_that_does_not_apply_is_no_part_of_all_attacks():
    no = none(defense="", attack="norm", metric="").assign(skipped="for two classes")
    assert verdict(cells([0.1, 0.1], attack="completion"), no, left={"metric": "mse"}, at_most=0.5) == "holds"
    named = {"metric": "mse", "attack": ["completion", "norm"]}
    assert verdict(cells([0.1, 0.1], attack="completion"), no, left=named, at_most=0.5) == "no result"


# 8. A tie is a tie.


@pytest.mark.parametrize("limit", [{"at_least": 1e-9}, {"at_least": 0}, {"at_most": -1e-9}, {"at_most": 0}])
def test_an_exact_tie_is_its_own_verdict_with_its_reason(limit):
    """Loans with race among the inputs: the leak is 1.0 at every lambda."""
    tables = [cells([1.0, 1.0, 1.0], setting=f"w={k}") for k in range(5)]
    others = [{"setting": f"w={k}"} for k in range(1, 5)]
    row = claim(*tables, statistic="gap", left={"setting": "w=0"}, right=others, of_several="most", **limit)
    assert (row["verdict"], row["why"]) == ("tie", "equal in each of 3 seeds (1)")


def test_equal_to_the_best_of_several_is_a_tie_however_far_another_is():
    """Loans with race among the inputs: the leak is the same at four lambdas, and lower at 1 in one seed."""
    values = [[1.0, 0.9995, 1.0], [1.0, 0.9995, 1.0], [0.999, 0.9995, 1.0]]
    tables = [cells(own, metric="test_accuracy", tested=300, setting=f"w={k}") for k, own in enumerate(values)]
    check = {"statistic": "gap", "left": {"setting": "w=0"}, "of_several": "most", "at_least": 1e-9}
    assert verdict(*tables, right=[{"setting": f"w={k}"} for k in (1, 2)], **check) == "tie"
    assert verdict(*tables, right=[{"setting": "w=2"}], **check) != "tie"


def test_a_flat_line_is_a_tie_and_no_rise():
    places = [cells([1.0, 1.0], place=k) for k in range(3)]
    assert verdict(*places, statistic="slope", at_least=1e-9) == "tie"


def test_equal_sides_hold_where_no_order_is_claimed():
    tables = cells([0.5, 0.5]), cells([0.5, 0.5], defense="e")
    check = {"statistic": "gap", "left": {"defense": "d"}, "right": {"defense": "e"}}
    assert verdict(*tables, **check, at_most=0.02) == "holds"
    assert verdict(*tables, **check, at_least=-0.02, at_most=0.02) == "holds"
    assert verdict(*tables, **check, at_most=-0.02) == "tie"


# 9. The tolerance of small numbers is relative.


def test_a_quarter_of_a_small_number_is_no_tolerance():
    """+-0.02 on 0.083 is 24%; 10% is allowed."""
    assert number(cells([0.066, 0.066]), "mse")["verdict"] == "differs"
    assert number(cells([0.080, 0.080]), "mse")["verdict"] == "holds"


# 10. Trade-offs are compared where both leak alike, or are as useful.


def sweep(name, points, spread=0.0):
    """A setting for each (leak, utility), three seeds that differ by `spread` in utility."""
    parts = []
    for i, (leak, use) in enumerate(points):
        who = {"defense": name, "setting": f"s={i}"}
        parts.append(cells([leak] * 3, attack="norm", metric="leak_auc", chance=0.5, **who))
        parts.append(cells([use - spread, use, use + spread], metric="test_auc", chance=0.5, **who))
    return pd.concat(parts)


TRADED = {
    "statistic": "at_equal_leak", "left": {"defense": "a"}, "right": {"defense": "b"}, "at_least": 0,
    "leak": {"attack": "norm", "metric": "leak_auc"}, "utility": {"attack": "", "metric": "test_auc"},
}  # fmt: skip
LINE = [(0.6, 0.7), (0.8, 0.8)]


def traded(first, second, **check):
    return claim(sweep("a", first), sweep("b", second), **TRADED | check)


def test_a_sweep_is_compared_where_the_other_leaks_alike_and_nowhere_else():
    """marvell was swept to a leak of 0.53, iso to 0.80: how far each was swept decided, not what they keep."""
    row = traded([(0.5, 0.5), *((x, y + 0.02) for x, y in LINE)], LINE)
    assert (row["verdict"], row["ours"]) == ("holds", pytest.approx(0.02))
    row = traded([(0.5, 0.69), (0.7, 0.7)], LINE)
    assert (row["verdict"], row["ours"]) == ("fails", pytest.approx((0.695 - 0.7 + 0.7 - 0.75) / 2))


def test_leak_and_utility_of_a_curve_are_of_the_same_settings():
    """Of a there is no utility at its first setting, and no leak at its last."""
    first, both = sweep("a", [(0.6, 0.0), (0.8, 0.8), (0.0, 0.9)]), sweep("b", LINE)
    gone = ((first["attack"] == "") & (first["setting"] == "s=0")) | (
        (first["attack"] != "") & (first["setting"] == "s=2")
    )
    assert claim(first[~gone], both, **TRADED)["ours"] == pytest.approx(0)


def test_curves_that_never_leak_alike_are_not_compared():
    row = traded([(0.5, 0.9), (0.55, 0.95)], LINE)
    assert (row["verdict"], row["why"]) == (
        "no common range",
        "in 3 of 3 seeds the fronts of both sweeps, chosen on the other seeds, have no or only one common point of "
        "leak",
    )


@pytest.mark.parametrize(("worth", "word"), [(0.1, "no common range"), (0.01, "no signal")])
def test_where_there_is_no_utility_to_trade_it_is_not_said_that_sweeps_never_meet(worth, word):
    tables = sweep("a", [(0.5, 0.9), (0.55, 0.95)]), sweep("b", LINE)
    ends = [cells([v] * 3, metric="test_auc", defense=name) for name, v in (("none", 0.8), ("zeros", 0.8 - worth))]
    premise = {"exhibit": "e", "statistic": "gap", "at_least": 0.02}
    premise |= {side: {"defense": name, "metric": "test_auc"} for side, name in (("left", "none"), ("right", "zeros"))}
    (row,) = claims(pd.concat([*tables, *ends]), entry={"given": premise}, **TRADED).to_dict("records")
    assert row["verdict"] == word


def test_one_seed_without_a_common_range_is_one_too_many():
    table = pd.concat([sweep("a", LINE), sweep("b", [(0.75, 0.6), (0.9, 0.8)])])
    table.loc[(table["seed"] == 0) & (table["defense"] == "b") & (table["attack"] == "norm"), "value"] = 0.95
    assert verdict(table, **TRADED) == "no common range"


def test_a_curve_below_fails_an_unsure_one_is_undecided_and_an_equal_one_a_tie():
    assert traded([(x, y - 0.05) for x, y in LINE], LINE)["verdict"] == "fails"
    unsure = sweep("a", [(x, y + 0.001) for x, y in LINE], spread=0.05)
    assert verdict(unsure, sweep("b", LINE), **TRADED) == "undecided"
    assert traded(LINE, LINE)["verdict"] == "tie"


def test_at_an_equal_utility_less_leak_is_below():
    row = traded([(x - 0.05, y) for x, y in LINE], LINE, statistic="at_equal_utility", at_least=-1.0, at_most=0)
    assert (row["verdict"], row["ours"]) == ("holds", pytest.approx(-0.05))


def test_a_loss_is_the_better_the_smaller():
    losses = {"utility": {"attack": "", "metric": "test_log_loss"}}
    a, b = (
        sweep(name, points).replace({"metric": {"test_auc": "test_log_loss"}})
        for name, points in (("a", [(0.6, 0.4), (0.8, 0.3)]), ("b", [(0.6, 0.5), (0.8, 0.4)]))
    )
    assert verdict(a, b, **TRADED | losses) == "holds"


# Reduced setups.


def test_a_verdict_on_something_smaller_is_marked_and_says_what_is():
    scale = Scale("night", {"setup": {"wine": "epochs, rows"}})
    row = claim(cells([0.1, 0.1]), scale=scale, at_most=0.5)
    assert (row["verdict"], row["size"]) == ("holds (reduced)", "reduced: setup wine differs in epochs, rows")
    row = number(cells([0.47, 0.47], metric="test_auc"), scale=scale)
    assert (row["verdict"], row["ours"], row["published"]) == ("holds (reduced)", 0.47, 0.47)
    assert verdict(cells([0.1, 0.1]), scale=Scale("night", {"setup": {"bank": "rows"}}), at_most=0.5) == "holds"


def test_a_method_that_is_smaller_counts_where_it_is_used():
    scale = Scale("night", {"defense": {"d": "refresh"}, "attack": {"dpa": "epochs"}})
    assert verdict(cells([0.1, 0.1]), scale=scale, at_most=0.5) == "holds (reduced)"
    assert verdict(cells([0.1] * 2, defense="e"), scale=scale, left={"defense": "e"}, at_most=0.5) == "holds"


def test_a_sample_has_fewer_rows_than_the_original_and_a_fact_of_whole_data_no_scale():
    assert verdict(cells([0.1, 0.1], provenance="sample"), at_most=0.5) == "holds (reduced)"
    fact = cells([0.1]).assign(seed=NO_SEED)
    assert verdict(fact, scale=Scale("night", {"setup": {"wine": "rows"}}), at_most=0.5) == "holds"


def test_what_has_no_verdict_has_no_mark():
    scale = Scale("quick", {"setup": {"wine": "rows"}}, numbers=False)
    assert number(cells([0.47, 0.47], metric="test_auc"), scale=scale)["verdict"] == "not at this scale"
    assert verdict(cells([0.1, 0.1], provenance="stand-in"), scale=scale, at_most=0.5) == "stand-in"


# Shares of places.


def test_more_than_half_of_the_places_is_held_against_all_of_them_together():
    """Six equal curves of three seeds: each seed has a share, and three equal shares would be certain."""
    draw = generator("six equal places")
    check = {"statistic": "share_below", "left": {"defense": "d"}, "right": {"defense": "e"}, "at_least": 0.5}
    found = []
    for _ in range(100):
        tables = [cells(draw.normal(0, 1, 3), k, defense=name) for k in range(2) for name in ("d", "e")]
        found.append(verdict(*tables, **check))
    assert found.count("holds") <= 5
    assert found.count("fails") <= 5
    sure = [cells([k, k + 0.1, k + 0.2], k) for k in range(6)] + [
        cells([k + (1 if k < 4 else -1), k + 1.2 if k < 4 else k - 1, k + 1.1 if k < 4 else k - 0.9], k, defense="e")
        for k in range(6)
    ]
    assert verdict(*sure, **check) == "holds"
