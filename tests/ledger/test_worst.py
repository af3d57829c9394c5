"""The worst of several attacks: chosen on other seeds, two-sided, named, and honest about what is not there."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutlayer.core.artifacts import write_json
from cutlayer.core.seeds import generator
from cutlayer.ledger.cells import NO_SEED, WHO, gather, load, summarize, write
from cutlayer.ledger.chance import two_sided
from cutlayer.ledger.worst import NEWER, ONE_SEED, choices, with_parts, worst

RULE = {"leaks": {"attack_utility": "more"}, "among": {"known": ["norm", "hint"], "any": ["norm", "hint", "knows"]}}


def rows(attack, values, metric="attack_utility", skipped="", **who):
    """The cells of an attack, one a seed."""
    common = dict.fromkeys(WHO, "") | {"setup": "clicks", "dataset": "clicks", "provenance": "real", "features": 3}
    common |= {"defense": "mine", "attack": attack, "metric": metric, "all": 0, "n": 0, "cases": 1, "skipped": skipped}
    facts = {"tested": 100, "chance": 0.5 if attack and not skipped else math.nan, "error": math.nan}
    return [common | facts | {"seed": seed, "value": value} | who for seed, value in enumerate(values)]


def found(*cells, rule=RULE):
    return worst(pd.DataFrame([row for part in cells for row in part]), rule)


def of(table, name, metric="attack_utility"):
    """seed -> (value, attack) of a set."""
    own = table[(table["attack"] == name) & (table["metric"] == metric)]
    return {row["seed"]: (pytest.approx(row["value"]), row["by"]) for row in own.to_dict("records")}


def test_a_set_that_is_newer_than_its_cells_has_the_numbers_of_a_wider_one_where_all_seeds_chose_of_it():
    parts = (rows("norm", [0.9, 0.6, 0.6]), rows("hint", [0.7, 0.7, 0.7]), rows("knows", [0.5, 0.5, 0.5]),
             rows("norm", [0.6, 0.7, 0.6], defense="other"), rows("hint", [0.6, 0.6, 0.6], defense="other"),
             rows("knows", [0.9, 0.9, 0.9], defense="other"))  # fmt: skip
    among, every = {"any": RULE["among"]["any"]}, found(*parts)
    table = with_parts(found(*parts, rule=RULE | {"among": among}), RULE["among"])
    expected = every[(every["attack"] == "known") & (every["defense"] == "mine")]
    derived = table[table["attack"] == "known"]
    mine = derived["defense"] == "mine"
    pd.testing.assert_frame_equal(derived[mine].reset_index(drop=True), expected.reset_index(drop=True))
    assert set(derived.loc[~mine, "skipped"]) == {NEWER}
    assert derived.loc[~mine, "value"].isna().all()
    pd.testing.assert_frame_equal(with_parts(every, RULE["among"]), every)


def test_a_set_between_that_is_as_new_does_not_matter():
    among = {"norm": ["norm"]} | RULE["among"]
    published = found(rows("norm", [0.9, 0.9, 0.9]), rows("hint", [0.7, 0.7, 0.7]), rows("knows", [0.5, 0.5, 0.5]),
                      rule=RULE | {"among": {"any": RULE["among"]["any"]}})  # fmt: skip
    assert of(with_parts(published, among), "norm") == of(published, "any")


def test_cells_of_an_exhibit_that_had_no_sets_stay_as_they_are():
    before = found(rows("norm", [0.9, 0.6, 0.6]), rule=RULE | {"among": {"norm": ["norm"]}}).drop(columns="by")
    pd.testing.assert_frame_equal(with_parts(before, {"norm": ["norm"], "any": ["norm", "hint"]}), before)


def test_each_seed_meets_the_attack_that_leaks_most_on_the_others():
    table = found(rows("norm", [0.9, 0.6, 0.6]), rows("hint", [0.7, 0.7, 0.7]), rows("knows", [0.5, 0.5, 0.5]))
    # Without seed 0 norm has 0.6 and hint 0.7; without another norm has 0.75.
    assert of(table, "known") == {0: (0.7, "hint"), 1: (0.6, "norm"), 2: (0.6, "norm")}
    assert of(table, "any") == of(table, "known")


def test_a_defense_that_does_not_apply_leaves_the_choice_as_it_is():
    attacks = (rows("norm", [0.6, 0.6, 0.6]), rows("hint", [0.7, 0.7, 0.7]))
    table = found(*attacks, rows("", [math.nan], metric="", skipped="for two classes, here 10", defense="other"))
    assert of(table, "known") == of(found(*attacks), "known") == dict.fromkeys(range(3), (0.7, "hint"))


def test_the_best_of_many_useless_attacks_is_useless():
    """What is taken is the mean of one attack's seeds on which it was not chosen: unbiased, where a maximum is not."""
    draw = np.random.default_rng(0)
    gains, maxima = [], []
    for _ in range(400):
        leak = draw.normal(0.6, 0.02, (3, 10))
        gains.append(np.mean(leak[np.arange(3), choices(leak)]))
        maxima.append(leak.max(axis=1).mean())
    assert np.mean(gains) == pytest.approx(0.6, abs=4 * 0.02 / math.sqrt(3 * 400))
    assert np.mean(maxima) > 0.62


LEAKS = st.lists(st.lists(st.floats(0, 1), min_size=4, max_size=4), min_size=2, max_size=5)


@given(LEAKS, st.lists(st.floats(0, 1), min_size=4, max_size=4), st.data())
def test_the_choice_cannot_see_the_seed_it_is_reported_on(leaks, instead, data):
    seed = data.draw(st.integers(0, len(leaks) - 1))
    before = np.array(leaks)
    after = before.copy()
    after[seed] = instead
    assert choices(before)[seed] == choices(after)[seed]


@given(LEAKS)
def test_no_attack_leaks_more_on_the_other_seeds_than_the_chosen_one(leaks):
    table = np.array(leaks)
    for seed, attack in enumerate(choices(table)):
        others = np.delete(table, seed, axis=0).mean(axis=0)
        assert others[attack] == others.max()


def test_an_auc_leaks_on_either_side_which_the_other_seeds_tell():
    table = found(rows("norm", [0.01, 0.03, 0.02]), rows("hint", [0.8, 0.8, 0.8]))
    assert of(table, "known") == {0: (0.99, "norm"), 1: (0.97, "norm"), 2: (0.98, "norm")}
    table = found(rows("norm", [0.01, 0.03, 0.92]), rows("hint", [0.8, 0.8, 0.8]))
    assert of(table, "known") == {0: (0.8, "hint"), 1: (0.8, "hint"), 2: (pytest.approx(0.08), "norm")}


def test_an_attack_with_useless_scores_reads_one_half():
    """Folded by the truth that it is scored with, it would read 0.5 and 0.8 of its scatter: 0.52 of 500 rows."""
    draw, single, worsts, folded = generator("useless scores"), [], [], []
    for _ in range(200):
        values = {name: draw.normal(0.5, 0.026, 5) for name in ("norm", "hint", "knows")}
        cells = pd.DataFrame([row for name, own in values.items() for row in rows(name, own)])
        single.append(two_sided(cells)["value"].mean())
        own = worst(cells, RULE)
        worsts.append(own.loc[own["attack"] == "any", "value"].mean())
        folded.append(np.mean(0.5 + np.abs(values["norm"] - 0.5)))
    error = 0.026 / math.sqrt(5 * 200)
    assert np.mean(single) == pytest.approx(0.5, abs=4 * error)
    assert np.mean(worsts) == pytest.approx(0.5, abs=4 * error)
    assert np.mean(folded) > 0.515


def test_less_error_may_be_the_leak():
    rule = {"leaks": {"mse": "less"}, "among": {"any": ["half", "undo"]}}
    table = found(rows("half", [0.08] * 3, "mse"), rows("undo", [0.001, 0.002, 0.003], "mse"), rule=rule)
    assert of(table, "any", "mse") == {0: (0.001, "undo"), 1: (0.002, "undo"), 2: (0.003, "undo")}


def test_every_metric_has_its_own_worst_attack():
    rule = RULE | {"leaks": {"attack_utility": "more", "tpr_at_1pct": "more"}}
    parts = [rows("norm", [0.9] * 3), rows("hint", [0.8] * 3)]
    parts += [rows("norm", [0.1] * 3, "tpr_at_1pct", chance=math.nan), rows("hint", [0.4] * 3, "tpr_at_1pct")]
    table = found(*parts, rule=rule)
    assert of(table, "known")[0] == (0.9, "norm")
    assert of(table, "known", "tpr_at_1pct")[0] == (0.4, "hint")


def test_settings_are_decided_on_their_own_and_of_equals_the_first_counts():
    parts = [rows("norm", [0.9, 0.9], setting="a"), rows("hint", [0.8, 0.8], setting="a")]
    parts += [rows("norm", [0.7, 0.7], setting="b"), rows("hint", [0.7, 0.7], setting="b")]
    table = found(*parts, rows("norm", [0.6, 0.6], setting="c"), rows("hint", [0.8, 0.8], setting="c"))
    by = table[table["attack"] == "known"].groupby("setting")["by"].unique()
    assert {setting: list(own) for setting, own in by.items()} == {"a": ["norm"], "b": ["norm"], "c": ["hint"]}


def test_what_a_run_says_of_itself_stays():
    table = found(rows("", [0.7, 0.8], "test_utility"), rows("norm", [0.9, 0.9]))
    own = table[table["attack"] == ""]
    assert list(own["value"]) == [0.7, 0.8]
    assert set(own["by"]) == {""}


def test_an_attack_that_lacks_a_seed_or_does_not_apply_is_not_among_them():
    parts = [
        rows("norm", [0.7, 0.7]),
        rows("hint", [0.9]),
        rows("knows", [math.nan], "", "for 9 classes", seed=NO_SEED),
    ]
    table = found(*parts)
    assert of(table, "any") == {0: (0.7, "norm"), 1: (0.7, "norm")}
    assert (table["skipped"] == "").all()


def test_where_none_applies_the_reason_is_told():
    away = rows("knows", [math.nan] * 2, "", "for rows that come back", setting="s")
    rule = RULE | {"among": {"known": ["norm"], "knowing": ["knows"]}}
    table = found(rows("norm", [0.7, 0.7], setting="s"), away, rule=rule)
    assert set(table.loc[table["attack"] == "knowing", "skipped"]) == {"for rows that come back"}
    assert of(table, "known") == {0: (0.7, "norm"), 1: (0.7, "norm")}


def test_a_failed_attack_is_not_passed_over_in_silence():
    """It might have been the worst: the set's cell says that it failed, and a claim on it has no result."""
    failed = rows("knows", [math.nan], "", "failed: no memory")
    table = found(rows("norm", [0.7, 0.7]), failed)
    assert sorted(table.loc[table["attack"] == "any", "skipped"]) == ["", "", "failed: no memory"]
    assert set(table.loc[table["attack"] == "known", "skipped"]) == {""}


def test_one_seed_alone_has_no_other_to_choose_on():
    table = found(rows("norm", [0.7]), rows("hint", [0.9]))
    own = table[table["attack"] == "any"]
    assert set(own["skipped"]) == {ONE_SEED}
    assert own["value"].isna().all()


def utility_of_draws(folder):
    """The table of a run that scores what its defense drew."""
    own = {"setup": "clicks", "defense": "mine", "setting": "", "attack": "as_drawn"}
    said = {"attack_utility": 0.95, "chance": 0.5, "rows": 50, "majority": 0.5}.items()
    drawn = [own | {"seed": seed, "metric": metric, "value": value} for seed in range(3) for metric, value in said]
    pd.DataFrame(drawn).to_csv(folder / "utility.csv", index=False)
    return folder / "utility.csv"


def test_cells_have_the_worst_attack_and_its_name_from_tables_to_the_csv(tmp_path):
    meta = {"provenance": "real", "features": 3, "rows": 9, "classes": 2}
    write_json(tmp_path / "clicks.json", meta)
    files = []
    for attack, values in {"norm": [0.9, 0.6, 0.6], "hint": [0.7, 0.7, 0.7]}.items():
        scored = [
            {
                "setup": "clicks",
                "defense": "mine",
                "attack": attack,
                "seed": seed,
                "setting": "",
                "metric": m,
                "value": v,
            }
            for seed, value in enumerate(values)
            for m, v in (("attack_utility", value), ("chance", 0.5), ("rows", 50), ("majority", 0.5))
        ]
        files.append(tmp_path / f"{attack}.csv")
        pd.DataFrame(scored).to_csv(files[-1], index=False)
    exhibit = {"sources": ["scores"], "along": "all", "metrics": ["attack_utility"], "inapplicable": []}
    exhibit |= {"setups": ["clicks"], "worst": RULE | {"among": {"known": ["norm", "hint"]}}}
    cells = gather(files, tmp_path, {"clicks": "clicks"}, exhibit)
    assert of(cells, "known") == {0: (0.7, "hint"), 1: (0.6, "norm"), 2: (0.6, "norm")}
    assert set(cells["tested"]) == {50}
    with_draw = RULE | {"among": {"known": ["norm", "hint"], "as_drawn": ["as_drawn"]}}
    beside = gather(
        [*files, utility_of_draws(tmp_path)], tmp_path, {"clicks": "clicks"}, exhibit | {"worst": with_draw}
    )
    assert of(beside, "as_drawn") == dict.fromkeys(range(3), (0.95, "as_drawn"))
    assert of(beside, "known") == of(cells, "known")
    alone = {key: part for key, part in exhibit.items() if key != "worst"}
    for own, attacks in ((exhibit, {"known"}), (alone, {"norm", "hint"})):  # what does not name it does not have it
        apart = gather([*files, utility_of_draws(tmp_path)], tmp_path, {"clicks": "clicks"}, own)
        assert set(apart["attack"]) == attacks
    write(cells.assign(scale="quick"), tmp_path / "cells.csv")
    (row,) = summarize(load(tmp_path / "cells.csv"), "arena", "labels").to_dict("records")
    assert (row["by"], row["mean"], row["seeds"]) == ("norm, hint", pytest.approx(1.9 / 3), 3)
