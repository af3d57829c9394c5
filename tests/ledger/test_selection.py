"""Which setting of a defense a table shows: the most private one within the allowed decline."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutlayer.core.artifacts import write_json
from cutlayer.ledger.cells import WHO, gather
from cutlayer.ledger.selection import choose, chosen

RULE = {"utility": "test_accuracy", "attack": "basic", "leak": "attack_accuracy", "within": 0.02}
REST = ["all", "seed", "value", "n", "cases", "skipped"]


def row(value, seed=0, skipped="", **who):
    common = dict.fromkeys(WHO, "") | {"setup": "adult", "dataset": "adult", "provenance": "real", "features": 3}
    return common | {"all": 0, "seed": seed, "value": value, "n": 0, "cases": 1, "skipped": skipped} | who


def measured(defense, setting, utility, leak, setup="adult", **other):
    """The rows of one setting, two seeds around the given means; `other`: attacks and their accuracies."""
    own = {"setup": setup, "defense": defense, "setting": setting}
    found = []
    for seed, shift in ((0, -0.05), (1, 0.05)):
        found.append(row(utility + shift, seed, **own, metric="test_accuracy"))
        for attack, accuracy in {"basic": leak, **other}.items():
            found.append(row(accuracy + shift, seed, **own, attack=attack, metric="attack_accuracy"))
    return found


def picked(rows, within=0.02):
    """(setup, defense) -> the settings that are left."""
    found = chosen(pd.DataFrame(rows)[[*WHO, *REST]], RULE | {"within": within})
    settings = found.groupby(["setup", "defense"])["setting"].unique()
    return {key: list(value) for key, value in settings.items()}


UNDEFENDED = measured("none", "", 0.80, 0.75)


def test_the_most_private_setting_within_the_decline_is_chosen():
    rows = [
        *UNDEFENDED,
        *measured("adv", "omega=1", 0.80, 0.70),
        *measured("adv", "omega=3", 0.79, 0.60),
        *measured("adv", "omega=5", 0.70, 0.40),
    ]
    assert picked(rows) == {("adult", "none"): [""], ("adult", "adv"): ["omega=3"]}
    assert picked(rows, within=0.2)["adult", "adv"] == ["omega=5"]
    assert picked(rows, within=0.001)["adult", "adv"] == ["omega=1"]


def test_a_decline_of_exactly_the_limit_is_within():
    for undefended in (0.7, 0.8, 0.9, 0.83):  # differences that round differently
        rows = [*measured("none", "", undefended, 0.9), *measured("adv", "a", undefended, 0.8)]
        rows += measured("adv", "b", undefended - 0.02, 0.5)
        assert picked(rows)["adult", "adv"] == ["b"]


def test_where_none_is_within_the_most_useful_one_is_chosen_and_its_name_says_so():
    rows = [*UNDEFENDED, *measured("adv", "omega=3", 0.70, 0.60), *measured("adv", "omega=1", 0.75, 0.70)]
    assert picked(rows)["adult", "adv"] == ["omega=1 (none within 2 points)"]
    assert picked([*UNDEFENDED, *measured("noise", "", 0.5, 0.5)])["adult", "noise"] == ["(none within 2 points)"]


def seed_by_seed(setting, utilities, leaks, defense="adv"):
    """The rows of one setting, a value a seed."""
    own = {"setup": "adult", "defense": defense, "setting": setting}
    both = (("", "test_accuracy", utilities), ("basic", "attack_accuracy", leaks))
    return [
        row(value, seed, **own, attack=attack, metric=metric)
        for attack, metric, values in both
        for seed, value in enumerate(values)
    ]


def test_a_setting_is_chosen_on_other_seeds_than_the_one_it_is_reported_on():
    """Each setting has luck in one seed; it is not reported there."""
    lucky = {"a": (0.5, 0.6, 0.6), "b": (0.6, 0.5, 0.6), "c": (0.6, 0.6, 0.5)}
    rows = seed_by_seed("", (0.8,) * 3, (0.8,) * 3, "none")
    for setting, leaks in lucky.items():
        rows += seed_by_seed(setting, (0.8,) * 3, leaks)
    found = left(rows).query("defense == 'adv' and attack == 'basic'")
    assert found.sort_values("seed")["value"].tolist() == [0.6, 0.6, 0.6]
    assert found["setting"].unique().tolist() == ["a in 2 of 3 / b in 1 of 3"]


def test_no_number_of_a_seed_decides_what_is_shown_of_it():
    """Whatever it is, of the other setting, the one that the other seed prefers is shown."""
    rows = [*UNDEFENDED, *measured("adv", "a", 0.8, 0.6), *measured("adv", "b", 0.79, 0.5)]
    for value in (0.0, 0.3, 1.0):
        at_0 = [one | {"value": value} if one["seed"] == 0 and one["setting"] == "a" else one for one in rows]
        found = left(at_0).query("defense == 'adv' and seed == 0")
        assert found["value"].tolist() == pytest.approx([0.74, 0.45])


def test_one_seed_alone_has_no_other_to_choose_on():
    rows = [*UNDEFENDED, *measured("adv", "a", 0.8, 0.6), *measured("adv", "b", 0.79, 0.5)]
    found = left([one for one in rows if one["seed"] == 0])
    adv = found.query("defense == 'adv'")
    assert adv["skipped"].tolist() == ["not at this scale: the setting is chosen on other seeds, and there is one"]
    assert set(found["defense"]) == {"none", "adv"}
    assert len(found.query("defense == 'none'")) == 2
    alone = left([one for one in [*UNDEFENDED, *measured("adv", "a", 0.8, 0.6)] if one["seed"] == 0])
    assert alone.query("defense == 'adv'")["setting"].unique().tolist() == ["a"]  # nothing is chosen


def test_means_over_seeds_decide():
    """Seed by seed the second setting would be within once and more private once."""
    rows = seed_by_seed("", (0.8,) * 4, (0.8,) * 4, "none") + seed_by_seed("a", (0.79,) * 4, (0.74,) * 4)
    rows += seed_by_seed("b", (0.9, 0.5, 0.6, 0.6), (0.1, 0.4, 0.9, 0.4))
    assert picked(rows)["adult", "adv"] == ["a"]
    assert picked(rows, within=0.25)["adult", "adv"] == ["b"]


def test_every_setup_and_defense_is_decided_on_its_own():
    rows = [*UNDEFENDED, *measured("none", "", 0.95, 0.99, setup="health")]
    for setup, utility in (("adult", 0.79), ("health", 0.80)):
        for defense in ("adv", "tcpo"):
            rows += measured(defense, "weak", 0.95 if setup == "health" else 0.8, 0.9, setup=setup)
            rows += measured(defense, "strong", utility, 0.5, setup=setup)
    found = picked(rows)
    assert found["adult", "adv"] == found["adult", "tcpo"] == ["strong"]
    assert found["health", "adv"] == found["health", "tcpo"] == ["weak"]


def test_other_attacks_meet_the_chosen_setting_and_keep_their_numbers():
    rows = [*UNDEFENDED, *measured("adv", "a", 0.8, 0.6, dsa=0.9), *measured("adv", "b", 0.8, 0.7, dsa=0.1)]
    found = chosen(pd.DataFrame(rows)[[*WHO, *REST]], RULE).query("defense == 'adv'")
    expected = pd.DataFrame(measured("adv", "a", 0.8, 0.6, dsa=0.9))[[*WHO, *REST]]
    pd.testing.assert_frame_equal(found.reset_index(drop=True), expected)


def test_of_equals_the_first_is_chosen():
    for more in (0, 1e-11):  # numbers of a file have ten digits
        rows = [*UNDEFENDED, *measured("adv", "b", 0.8, 0.6 + more), *measured("adv", "a", 0.8, 0.6)]
        assert picked(rows)["adult", "adv"] == ["b"]
        rows = [*UNDEFENDED, *measured("adv", "b", 0.7, 0.6), *measured("adv", "a", 0.7 + more, 0.6)]
        assert picked(rows)["adult", "adv"] == ["b (none within 2 points)"]


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=8),
    st.floats(0, 1),
    st.floats(0, 0.2),
)
def test_no_setting_within_leaks_less_than_the_chosen_one(points, undefended, within):
    table = pd.DataFrame(points, columns=["utility", "leak"], index=[f"s{i}" for i in range(len(points))])
    setting, near = choose(table, undefended, within)
    allowed = [(u, leak) for u, leak in points if undefended - u <= within]
    if allowed:
        assert near
        assert table.loc[setting, "leak"] <= min(leak for _, leak in allowed) + 1e-8
    if near:
        assert table.loc[setting, "utility"] >= undefended - within - 1e-8
    else:
        assert table.loc[setting, "utility"] >= max(u for u, _ in points) - 1e-8


# What failed or does not apply.


def failed(reason="failed: no memory", **who):
    return [row(math.nan, seed, reason, setup="adult", **who) for seed in (0, 1)]


def left(rows):
    return chosen(pd.DataFrame(rows)[[*WHO, *REST]], RULE)


def test_a_defense_that_failed_or_does_not_apply_stays_as_it_is():
    rows = [*UNDEFENDED, *failed(defense="adv"), *failed("for two classes", defense="tcpo")]
    found = left(rows)
    assert list(found["skipped"][found["defense"] != "none"]) == ["failed: no memory"] * 2 + ["for two classes"] * 2


def test_an_attack_that_applies_nowhere_stays_with_its_reason():
    rows = [*UNDEFENDED, *measured("adv", "a", 0.8, 0.6), row(math.nan, -1, "for images", attack="dsa")]
    assert "for images" in set(left(rows)["skipped"])


def test_a_setting_without_both_numbers_is_not_chosen():
    rows = [*UNDEFENDED, *measured("adv", "a", 0.8, 0.7)]
    rows += [row(0.8, 0, defense="adv", setting="b", metric="test_accuracy")]
    rows += failed(defense="adv", setting="b", attack="basic")
    assert picked(rows)["adult", "adv"] == ["a"]


def test_without_anything_to_choose_by_there_is_one_row_that_says_why():
    utility = [row(0.8, 0, defense="adv", setting=s, metric="test_accuracy") for s in ("a", "b")]
    found = left([*UNDEFENDED, *utility, *failed(defense="adv", setting="a", attack="basic")]).query("defense == 'adv'")
    assert found[["setting", "attack", "metric", "skipped"]].to_numpy().tolist() == [["", "", "", "failed: no memory"]]
    assert found["value"].isna().all()


def test_without_the_undefended_run_nothing_is_chosen():
    rows = [*failed(defense="none"), *measured("adv", "a", 0.8, 0.7), *measured("adv", "b", 0.8, 0.6)]
    found = left(rows).query("defense == 'adv'")
    assert found["skipped"].str.startswith("failed: ").all()
    assert len(found) == 1


# Gathered from the tables of a run.


@pytest.fixture
def gathered(tmp_path):
    """`gathered(scores, utility, **exhibit)`: cells of made-up csv tables; all data are called adult."""
    write_json(tmp_path / "adult.json", {"name": "adult", "provenance": "real", "features": 3})

    def make(scores, utility, **exhibit):
        for name, rows in (("scores", scores), ("utility", utility)):
            pd.DataFrame(rows).to_csv(tmp_path / f"{name}.csv", index=False)
        exhibit = {"setups": ["adult"], "sources": ["scores", "utility"], "along": "all", "inapplicable": []} | exhibit
        files = [tmp_path / "scores.csv", tmp_path / "utility.csv"]
        return gather(files, tmp_path, dict.fromkeys(exhibit["setups"], "adult"), exhibit)

    return make


def tables():
    """Scores and utility of a clean setup and, for dpa, a poisoned one; two settings of adv."""
    scores, utility = [], []
    for defense, setting, accuracy, leak in (("none", "", 0.8, 0.9), ("adv", "a", 0.8, 0.7), ("adv", "b", 0.79, 0.6)):
        for seed in (0, 1):
            own = {"defense": defense, "setting": setting, "seed": seed}
            utility.append({"setup": "adult", **own, "metric": "test_accuracy", "value": accuracy + seed / 100})
            common = own | {"metric": "attack_accuracy", "skipped": ""}
            scores.append(common | {"setup": "adult", "attack": "basic", "value": leak + seed / 100})
            scores.append(common | {"setup": "adult_poisoned", "attack": "dpa", "value": leak - 0.1})
    return scores, utility


def test_an_attack_measured_in_another_setup_is_shown_in_the_exhibits_own(gathered):
    cells = gathered(*tables(), attacked_in={"dpa": "{setup}_poisoned"})
    assert set(cells["setup"]) == {"adult"}
    assert set(cells["dataset"]) == {"adult"}
    dpa = cells[cells["attack"] == "dpa"].groupby("setting")["value"].mean()
    np.testing.assert_allclose(dpa[["", "a", "b"]], [0.8, 0.6, 0.5])


def test_an_exhibit_that_chooses_has_one_setting_of_each_defense(gathered):
    cells = gathered(*tables(), attacked_in={"dpa": "{setup}_poisoned"}, choose=RULE)
    shown = cells[cells["defense"] == "adv"]
    assert set(shown["setting"]) == {"b"}
    assert set(shown["attack"]) == {"", "basic", "dpa"}
    assert len(shown) == 3 * 2
    assert shown.loc[shown["attack"] == "dpa", "value"].tolist() == [0.5, 0.5]


def test_an_axis_that_is_a_parameter_has_its_value_where_a_setting_has_it(gathered):
    scores, utility = tables()
    rows = [row | {"setting": {"a": "weight=0.5", "b": "weight=1.0"}.get(row["setting"], "")} for row in utility]
    cells = gathered(scores[:1], rows, along="weight", metrics=["test_accuracy"])
    assert cells.loc[cells["setting"] == "", "weight"].isna().all()
    assert cells.loc[cells["setting"] != "", "weight"].tolist() == [0.5, 0.5, 1.0, 1.0]
    assert set(gathered(*tables(), along="weight")["weight"]) == {0}


def test_a_grid_has_a_row_for_each_value(gathered):
    grid = [
        {"setup": "adult", "defense": "adv", "setting": f"omega={value}", "metric": "omega", "value": value}
        for value in (0.5, 1.0)
    ]
    cells = gathered(*tables(), sources=["grids"], grids=grid, metrics=["omega"])
    assert cells[["setting", "value", "seed"]].to_numpy().tolist() == [["omega=0.5", 0.5, -1], ["omega=1.0", 1.0, -1]]


def test_why_there_is_no_number_is_shown_with_the_metric_that_it_concerns(gathered):
    scores, utility = tables()
    lacking = {"setup": "adult", "seed": 0, "value": None}
    scores.append(lacking | {"defense": "none", "metric": "bound", "skipped": "for two classes"})
    scores.append(lacking | {"defense": "adv2", "metric": "", "skipped": "failed"})
    for metrics, reasons in ((["test_accuracy"], {"", "failed"}), (["bound"], {"for two classes", "failed"})):
        assert set(gathered(scores, utility, metrics=metrics)["skipped"]) == reasons
