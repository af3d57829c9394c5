"""Rules that a defense, or a model, satisfies without doing anything give no verdict."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from cutlayer.ledger.cells import WHO
from cutlayer.ledger.claims import Scale, judge
from cutlayer.ledger.trivial import CONSTANT

SPREAD = np.array([-1e-3, 1e-3, 0, -5e-4, 5e-4])
MAJORITY = 0.5


def cells(value, metric="attack_accuracy", **who):
    common = dict.fromkeys(WHO, "") | {
        "setup": "s",
        "dataset": "s",
        "provenance": "real",
        "defense": "d",
        "attack": "a",
    }
    facts = {"skipped": "", "n": 0, "cases": 1, "tested": 1e6, "few": 5e5, "chance": MAJORITY, "error": 1e-4}
    seeds = enumerate(value + (SPREAD if metric == "attack_accuracy" else 0 * SPREAD))
    return pd.DataFrame([common | facts | {"metric": metric} | who | {"seed": seed, "value": v} for seed, v in seeds])


def near_chance(undefended, defended, setting="", none="none", larger=()):
    """Verdict of "at most 0.12 above the majority"; `larger` runs have only the attack without a defense."""
    runs = [("d", "", defended), (none, setting, undefended)]
    parts = [cells(value, defense=name, setting=own) for name, own, value in runs]
    parts += [cells(MAJORITY, "majority", defense=name, setting=own) for name, own, _ in runs]
    parts += [cells(0.9, "test_accuracy", attack="", defense=name, setting=own) for name, own, _ in runs]
    sides = [{"attack": "a", "defense": "d", "metric": metric} for metric in ("attack_accuracy", "majority")]
    sides = [side | {"setting": ""} for side in sides]
    check = {"exhibit": "e", "statistic": "gap", "left": sides[0], "right": sides[1], "at_most": 0.12}
    claims = {"claims": {"c": {"text": "It is close.", "place": "p", "check": check}}}
    names = ["paper", *(f"larger{at}" for at in range(len(larger)))]
    parts = [part.assign(scale="paper") for part in parts]
    for name, value in zip(names[1:], larger, strict=True):
        both = cells(value, defense=none), cells(MAJORITY, "majority", defense=none)
        parts += [table.assign(setting=setting, scale=name) for table in both]
    scales = [Scale(name, absent="not run") for name in names]
    (row,) = judge("p", claims, pd.DataFrame(), {"e": pd.concat(parts)}, *scales).to_dict("records")
    return row["verdict"], row["why"]


def test_close_to_chance_is_a_finding_only_where_it_is_not_so_without_a_defense():
    assert near_chance(0.8, 0.55)[0] == "holds"
    assert near_chance(0.8, 0.75)[0] == "fails"
    verdict, why = near_chance(0.6, 0.55)
    assert verdict == "no signal"
    assert why == "it is 0.100 above without a defense here, surely not further"
    assert near_chance(0.62, 0.55)[1] == "it is 0.120 above without a defense here, not surely further"


def test_what_the_largest_run_has_without_a_defense_is_told_where_there_is_one():
    verdict, why = near_chance(0.62, 0.55, larger=(0.7, 0.8))
    assert verdict == "no signal"
    assert why == "it is 0.120 above without a defense here, not surely further, and 0.300 at the largest that was run"


def test_a_weight_of_0_is_no_defense():
    assert near_chance(0.6, 0.55, "weight=0.0", "d")[0] == "no signal"
    assert near_chance(0.8, 0.55, "weight=0.0", "d")[0] == "holds"


@pytest.mark.parametrize(("printed", "verdict"), [(0.7, "holds"), (0.6, "undecided"), (0.9, "differs")])
def test_a_tolerance_in_which_a_constant_answer_is_confirms_nothing(printed, verdict):
    check = {"exhibit": "e", "statistic": "value", "left": {"defense": "d", "metric": "test_accuracy"}}
    entry = {"published": {"metric": "test_accuracy"}, "statement": "s", "why": "w", "check": check, "tolerance": 0.155,
             "depends_on_scale": True}  # fmt: skip
    row = {"item": "t", "dataset": "s", "method": "d", "metric": "test_accuracy", "value": printed}
    table = cells(0.7, "test_accuracy", attack="")
    (found,) = judge(
        "p", {"claims": {}, "numbers": [entry]}, pd.DataFrame([row]), {"e": table}, Scale("paper")
    ).to_dict("records")
    assert found["verdict"] == verdict
    assert "seeds" not in found["why"]  # how many there are decides nothing of a constant answer
    assert (found["why"] == CONSTANT) == (verdict == "undecided")


@pytest.mark.parametrize(("value", "withheld"), [(0.72, True), (0.78, False)])
def test_a_constant_answer_is_the_reason_only_where_ours_is_within_the_tolerance(value, withheld):
    """Ours, whose seeds scatter about the tolerance's end, 0.755, is undecided by its interval in both cases."""
    check = {"exhibit": "e", "statistic": "value", "left": {"defense": "d", "metric": "test_accuracy"}}
    entry = {"published": {"metric": "test_accuracy"}, "statement": "s", "why": "w", "check": check, "tolerance": 0.155,
             "depends_on_scale": True}  # fmt: skip
    row = {"item": "t", "dataset": "s", "method": "d", "metric": "test_accuracy", "value": 0.6}
    table = cells(value, "test_accuracy", attack="")
    table["value"] += 100 * SPREAD
    content = {"claims": {}, "numbers": [entry]}
    (found,) = judge("p", content, pd.DataFrame([row]), {"e": table}, Scale("paper")).to_dict("records")
    assert found["verdict"] == "undecided"
    assert (CONSTANT in found["why"]) is withheld
    assert found["why"].startswith("w; ") is not withheld


@pytest.mark.parametrize(("asked", "verdict"), [("s", "no signal"), ("other", "holds")])
def test_a_premise_is_asked_where_its_exhibit_has_the_setup(asked, verdict):
    """Where it was not run in a setup, nothing is known of it, and a sentence about utility alone stands by itself."""
    runs = {"none": 0.9, "zeros": 0.9}
    floor = pd.concat([cells(value, "test_accuracy", attack="", defense=name) for name, value in runs.items()])
    sides = {key: {"defense": name, "metric": "test_accuracy"} for key, name in (("left", "none"), ("right", "zeros"))}
    check = {"exhibit": "e", "statistic": "value", "at_least": 0.8, "left": {"metric": "test_accuracy"}}
    claim = {"text": "It is useful.", "place": "p", "check": check}
    claim |= {"given": {"exhibit": "f", "statistic": "gap", "at_least": 0.02, **sides}}
    tables = {"e": cells(0.9, "test_accuracy", attack=""), "f": floor.assign(setup=asked)}
    found = judge("p", {"claims": {"c": claim}}, pd.DataFrame(), tables, Scale("paper"))
    assert found["verdict"].tolist() == [verdict]


def test_a_rival_that_no_setting_makes_useful_enough_is_not_compared():
    def of(setting):
        table = pd.concat([cells(0.6, setting=setting), cells(0.7, defense="r")])
        table = pd.concat([table, cells(0.9, "test_accuracy", attack="", defense="r")])
        sides = {"left": {"defense": "d"}, "right": {"defense": "r"}}
        sides = {key: side | {"attack": "a", "metric": "attack_accuracy"} for key, side in sides.items()}
        check = {"exhibit": "e", "statistic": "gap", "at_most": 0, **sides}
        claims = {"claims": {"c": {"text": "It leaks less.", "place": "p", "check": check}}}
        (row,) = judge("p", claims, pd.DataFrame(), {"e": table}, Scale("paper")).to_dict("records")
        return row["verdict"], row["why"]

    some, far = "weight=1 in 1 of 2", "weight=3 (none within 2 points) in 1 of 2"
    everywhere = "no setting of d is as useful here as the table's rule asks"
    assert of("weight=1") == of(f"{some} / weight=3 in 1 of 2") == ("holds", "")
    assert of("weight=1 (none within 2 points)") == of(f"{far} / {far}") == ("undecided", everywhere)
    assert of(f"{some} / {far}") == (
        "undecided",
        "for some seeds no setting of d is as useful on the others as the table's rule asks",
    )


@pytest.mark.parametrize(("setting", "worth", "verdict"), [("weight=1", 0.89, "holds"), ("weight=1", 0.8, "fails"),
                          ("weight=1 (none within 2 points)", 0.8, "fails")])  # fmt: skip
def test_a_cost_in_utility_can_fail_where_a_table_chooses_settings_by_it(setting, worth, verdict):
    """Of settings within 2 points none costs more than 2: where there is none, the most useful one is judged."""
    parts = [cells(value, "test_accuracy", attack="", **who)
             for value, who in ((worth, {"setting": setting}), (0.9, {"defense": "none"}))]  # fmt: skip
    sides = {key: {"attack": "", "defense": name} for key, name in (("left", "d"), ("right", "none"))}
    check = {"exhibit": "e", "statistic": "gap", "at_least": -0.02, **sides}
    claims = {"claims": {"c": {"text": "It costs little.", "place": "p", "check": check}}}
    found = judge("p", claims, pd.DataFrame(), {"e": pd.concat(parts)}, Scale("paper"))
    assert found["verdict"].tolist() == [verdict]


@pytest.mark.parametrize(("rival", "verdict"), [(0.31, "fails"), (0.69, "no signal"), (None, "no result")])
def test_a_sentence_is_judged_where_what_it_presupposes_is_so(rival, verdict):
    def side(name, metric):
        return {"attack": "", "defense": name, "metric": metric}

    def gap(metric):
        return {"exhibit": "e", "statistic": "gap", "left": side("d", metric), "right": side("r", metric)}

    losses = {"d": 0.3, "r": rival} if rival else {"d": 0.3}
    table = pd.concat(
        [cells(loss, "utility_loss", attack="", defense=name) for name, loss in losses.items()]
        + [cells(leak, "leakage", attack="", defense=name) for name, leak in {"d": 0.2, "r": 0.1}.items()]
    ).assign(tested=0, chance=math.nan, error=math.nan)
    claim = {"text": "It leaks less.", "place": "p", "check": gap("leakage") | {"at_most": 0}}
    claim |= {"given": gap("utility_loss") | {"at_least": -0.05, "at_most": 0.05}}
    found = judge("p", {"claims": {"c": claim}}, pd.DataFrame(), {"e": table}, Scale("paper", absent="it is older"))
    assert found["verdict"].tolist() == [verdict]
    assert ("at least -0.05 and at most 0.05" in found["why"].item()) == (verdict == "no signal")
