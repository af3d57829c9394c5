"""A setup's own sweeps, and attacks that an exhibit measures in another setup: what the plan makes of them."""

from __future__ import annotations

import copy

import pytest
import yaml
from tests import written
from tests.params import params

from cutlayer.core.errors import InputError
from cutlayer.core.failures import FEW
from cutlayer.plan import plugins
from cutlayer.plan.plan import Plan

CONFIG = params()
EXHIBIT = {
    "title": "t", "caption": "c", "setups": ["digits_vs_rest"], "defenses": ["none", "dp"],
    "attacks": ["norm", "model_completion"], "attacked_in": {"model_completion": "{setup}_more"},
    "sources": ["scores", "utility"], "along": "all", "draw": {"use": "table"},
}  # fmt: skip


@pytest.fixture
def planned(tmp_path):
    """`planned(own, scale, **exhibit)`: the plan of one exhibit, where a setup says `own` of defenses."""

    def make(own=None, scale="quick", **exhibit):
        config = copy.deepcopy(CONFIG) | {"papers": ["mine"], "scale": scale}
        plain = config["setups"]["digits_vs_rest"] | ({"defenses": own} if own else {})
        config["setups"] |= {"digits_vs_rest": plain, "digits_vs_rest_more": plain | {"known": {"per_class": 50}}}
        (tmp_path / "papers/mine").mkdir(parents=True, exist_ok=True)
        paper = {
            "title": "t",
            "authors": "a",
            "datasets": ["criteo"],
            "claims": {},
            "exhibits": {"table": written.exhibit(EXHIBIT | exhibit)},
        }
        (tmp_path / "papers/mine/paper.yaml").write_text(yaml.safe_dump(paper))
        return Plan(config, tmp_path)

    return make


def shown(plan):
    return plan.papers["mine"]["exhibits"]["table"]


# A scale's few setups.


def test_a_scale_may_run_a_method_in_few_setups_alone_and_says_so(planned, monkeypatch):
    two = {"setups": ["digits_vs_rest", "digits_vs_rest_more"], "attacked_in": {}}
    everywhere = planned(**two)
    few = {"setups": ["digits_vs_rest"], "defenses": ["dp"], "attacks": ["norm"]}
    monkeypatch.setitem(CONFIG["scales"]["quick"], "in_few_setups", few)
    plan = planned(**two)
    gone = set(everywhere.pairs(shown(everywhere))) - set(plan.pairs(shown(plan)))
    assert gone == {("digits_vs_rest_more", "dp")}
    files = [set(one.files("mine", shown(one), "scores")) for one in (everywhere, plan)]
    assert files[0] - files[1] == {
        f"results/scores/digits_vs_rest_more/{end}.csv" for end in ("none/norm", "dp/norm", "dp/model_completion")
    }
    reason = f"{FEW}digits_vs_rest"
    assert [row["skipped"] for row in shown(plan)["inapplicable"]] == [reason, reason]
    monkeypatch.setitem(CONFIG["scales"]["quick"], "in_few_setups", few | {"defenses": ["dpp"]})
    with pytest.raises(InputError, match=r"scales\.quick\.in_few_setups\.defenses"):
        planned()


# A setup's own sweeps.


def test_a_setup_may_say_otherwise_of_a_defense(planned):
    plan = planned({"secdt_k": {"sweep": {"expansion": [3]}}}, "paper")  # a scale that says nothing of it
    own = plan.defense("digits_vs_rest", "secdt_k")
    assert own["sweep"] == {"expansion": [3], "noise": [0.0, 0.3]}
    assert plan.defense("criteo", "secdt_k") == plan.defenses["secdt_k"] == CONFIG["defenses"]["secdt_k"]
    assert plan.defense("digits_vs_rest", "marvell") == plan.defenses["marvell"]
    assert "defenses" not in plan.setups["digits_vs_rest"]  # of which every run depends


def test_the_scale_has_the_last_word_on_a_sweep(planned):
    own = {"dp": {"sweep": {"epsilon": [7.0]}}}
    assert planned(own, "paper").defense("digits_vs_rest", "dp")["sweep"] == {"epsilon": [7.0]}
    thin = CONFIG["scales"]["quick"]["defenses"]["dp"]["sweep"]
    assert planned(own, "quick").defense("digits_vs_rest", "dp")["sweep"] == thin


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"dq": {}}, r"params.yaml setups.digits_vs_rest.defenses: there is no defense 'dq'"),
        ({"dp": {"sweep": {"epsilom": [1.0]}}}, r"setups.digits_vs_rest.defenses: .*no parameter 'epsilom'"),
        ({"dp": {"sweep": {"epsilon": ["many"]}}}, r"setups.digits_vs_rest.defenses: .*epsilon = 'many'"),
    ],
)
def test_a_bad_word_of_a_setup_is_refused(planned, own, message):
    with pytest.raises(InputError, match=message):
        planned(own, "paper")


def test_grids_are_those_of_each_setup(planned):
    own = {"dp": {"sweep": {"epsilon": [7.0, 8.0]}}}
    plan = planned(own, "paper", setups=["digits_vs_rest", "criteo"], sources=["grids"], attacked_in={})
    rows = shown(plan)["grids"]
    assert [row["value"] for row in rows if row["setup"] == "digits_vs_rest"] == [7.0, 8.0]
    assert [row["value"] for row in rows if row["setup"] == "criteo"] == CONFIG["defenses"]["dp"]["sweep"]["epsilon"]
    assert {(row["defense"], row["metric"], row["setting"]) for row in rows[:1]} == {("dp", "epsilon", "epsilon=7.0")}
    assert plan.files("mine", shown(plan), "grids") == []


# Attacks that are measured in another setup.


def test_scores_come_from_where_the_attack_is_measured_and_utility_from_the_setup(planned):
    plan = planned()
    assert plan.files("mine", shown(plan), "scores") == [
        "results/scores/digits_vs_rest/none/norm.csv",
        "results/scores/digits_vs_rest_more/none/model_completion.csv",
        "results/scores/digits_vs_rest/dp/norm.csv",
        "results/scores/digits_vs_rest_more/dp/model_completion.csv",
    ]
    assert plan.files("mine", shown(plan), "utility") == [
        "results/runs/digits_vs_rest/none/utility.csv",
        "results/runs/digits_vs_rest/dp/utility.csv",
    ]
    setups = ("digits_vs_rest", "digits_vs_rest_more")
    assert plan.runs(shown(plan)) == {(setup, defense) for setup in setups for defense in ("none", "dp")}


def test_theory_is_measured_of_each_paper_setup_and_defense(planned):
    plan = planned(sources=["theory"])
    assert plan.files("mine", shown(plan), "theory") == [
        "results/theory/mine/digits_vs_rest/none.csv",
        "results/theory/mine/digits_vs_rest/dp.csv",
    ]


def test_an_attack_need_not_apply_to_the_setup_itself(planned):
    elsewhere = {"setups": ["bank"], "defenses": ["none"], "attacks": ["black_box"]}
    with pytest.raises(InputError, match=r"setup bank has no 'passive', which attack.black_box needs"):
        planned(**elsewhere, attacked_in={})
    plan = planned(**elsewhere, attacked_in={"black_box": "{setup}_one_feature"})
    assert plan.files("mine", shown(plan), "scores") == ["results/scores/bank_one_feature/none/black_box.csv"]


def test_a_place_with_other_settings_of_a_defense_is_refused(planned, monkeypatch):
    fewer = {"defenses": {"dp": {"sweep": {"epsilon": [1.0]}}}}
    monkeypatch.setitem(CONFIG["scales"]["quick"]["setups"], "digits_vs_rest_more", fewer)
    wrong = r"attacked_in: dp has the settings epsilon=1.0 in digits_vs_rest_more; "
    with pytest.raises(InputError, match=wrong + "expected those in digits_vs_rest: epsilon=1.0, epsilon=100.0"):
        planned()
    planned(attacked_in={})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"attacked_in": {"norn": "{setup}_more"}}, r"exhibits.table.attacked_in: there is no attack 'norn'"),
        ({"attacked_in": {"norm": "{setup}_les"}}, r"there is no setup 'digits_vs_rest_les'"),
        (
            {"attacked_in": {"norm": "criteo"}},
            r"attacked_in: criteo has another dataset; expected that of digits_vs_rest",
        ),
    ],
)
def test_a_place_without_the_same_truth_is_refused(planned, changed, message):
    with pytest.raises(InputError, match=message):
        planned(**changed)


# Rows that are found in every seed.


def test_attacks_on_watched_rows_say_which_are_found_again(planned):
    own = {"attacks": ["norm", "repeated"], "attacked_in": {}, "sources": ["vulnerable"]}
    plan = planned(**own)
    assert "results/vulnerable/digits_vs_rest/dp.csv" in plan.files("mine", shown(plan), "vulnerable")
    assert plan.on_watched("digits_vs_rest", "dp") == {"repeated": plan.attacks["repeated"]}
    with pytest.raises(InputError, match=r"attacks: has none that tracks records of digits_vs_rest; the source `vul"):
        planned(**own | {"attacks": ["norm"]})


# Strengths that are matched.

MATCH = {"attack": "norm", "leak": "attack_auc", "utility": "test_auc", "targets": [0.6, 0.7], "tolerance": 0.01}
MATCHED = {"attacks": ["norm"], "attacked_in": {}, "sources": ["matches"]}


@pytest.fixture
def strong(monkeypatch):
    """Every defense but `none` has a strength."""
    monkeypatch.setattr(plugins, "strength", lambda name: ("epsilon", 0.1, 10.0))


@pytest.mark.usefixtures("strong")
def test_a_matched_defense_is_a_file_and_without_a_defense_there_is_none(planned):
    plan = planned(**MATCHED, match=MATCH)
    assert plan.files("mine", shown(plan), "matches") == ["results/matches/digits_vs_rest/dp.csv"]
    assert plan.matches == {("digits_vs_rest", "dp"): MATCH}
    assert plan.evaluations == CONFIG["scales"]["quick"]["matching"]["evaluations"]


@pytest.mark.usefixtures("strong")
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"match": MATCH | {"attack": "norn"}}, r"table.match.attack: there is no attack 'norn'; did you mean 'norm'"),
        ({"match": MATCH | {"attack": "basic"}}, r"table.match.attack: attack.basic is not for the protocol split;"),
        ({"match": MATCH | {"targets": [1.0]}}, r"exhibits.table.match.targets.0: 1.0; should be less than 1"),
        ({"match": MATCH | {"targets": [0]}}, r"exhibits.table.match.targets.0: 0; should be greater than 0"),
        ({"match": MATCH | {"targets": []}}, r"exhibits.table.match.targets: \[\]; should have at least 1 item"),
        ({"match": MATCH | {"tolerance": 0}}, r"exhibits.table.match.tolerance: 0; should be greater than 0"),
        ({"match": MATCH, "sources": ["scores"]}, r"exhibits.table: has only one of `match` and the source `matches`"),
        ({}, r"exhibits.table: has only one of `match` and the source `matches`"),
    ],
)
def test_a_match_that_cannot_be_made_is_refused(planned, changed, message):
    with pytest.raises(InputError, match=message):
        planned(**(MATCHED | changed))


def test_a_defense_without_a_strength_cannot_be_matched(planned):
    message = r"papers/mine/paper.yaml exhibits.table.match, dp: defense.dp: names no `strength`"
    with pytest.raises(InputError, match=message):
        planned(**MATCHED, match=MATCH)


@pytest.mark.usefixtures("strong")
def test_a_scale_must_say_how_many_evaluations_a_target_may_take(planned, monkeypatch):
    monkeypatch.delitem(CONFIG["scales"]["quick"], "matching")
    with pytest.raises(InputError, match=r"^params.yaml scales.quick: has no `matching`; .*table.match needs its"):
        planned(**MATCHED, match=MATCH)


@pytest.mark.usefixtures("strong")
def test_two_exhibits_match_a_defense_alike_or_not_at_all(planned, tmp_path):
    planned(**MATCHED, match=MATCH)
    file = tmp_path / "papers/mine/paper.yaml"
    paper = yaml.safe_load(file.read_text())
    for targets, message in (([0.6, 0.7], ""), ([0.8], r"table2.match: another exhibit matches dp in digits_vs_rest")):
        paper["exhibits"]["table2"] = paper["exhibits"]["table"] | {"match": MATCH | {"targets": targets}}
        file.write_text(yaml.safe_dump(paper))
        config = copy.deepcopy(CONFIG) | {"papers": ["mine"]}
        config["setups"]["digits_vs_rest_more"] = config["setups"]["digits_vs_rest"]
        if not message:
            assert len(Plan(config, tmp_path).matches) == 1
            continue
        with pytest.raises(InputError, match=message):
            Plan(config, tmp_path)


# Worst attacks.

WORST = {"leaks": {"attack_utility": "more"}, "among": {"one": ["norm"], "any": "all"}}
WITH_WORST = {"metrics": ["attack_utility"], "attacked_in": {}}


def test_all_attacks_of_a_set_are_those_of_the_exhibit(planned):
    own = shown(planned(**WITH_WORST, worst=WORST))["worst"]
    assert own["among"] == {"one": ["norm"], "any": ["norm", "model_completion"]}
    nested = WORST | {"among": {"one": ["norm"], "two": ["model_completion", "one"]}}
    own = shown(planned(**WITH_WORST, worst=nested))["worst"]
    assert own["among"] == {"one": ["norm"], "two": ["model_completion", "norm"]}
    beside = WORST | {"among": {"any": "all", "as_drawn": ["as_drawn"]}}
    own = shown(planned(**WITH_WORST, worst=beside))["worst"]
    assert own["among"] == {"any": ["norm", "model_completion"], "as_drawn": ["as_drawn"]}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"among": {"any": ["norn"]}}, r"table.worst.among.any: there is no attack 'norn'; did you mean 'norm'"),
        ({"among": {"norm": "all"}}, r"table.worst.among: norm is an attack; expected a name for several"),
        ({"among": {"one": ["norm"]}}, r"table.worst.among: no set has the attack model_completion"),
        (
            {"among": {"any": "all", "as_drawn": ["as_drawn", "norm"]}},
            r"among.as_drawn: has as_drawn, which is no attack",
        ),
        ({"among": {"any": ["norm", "as_drawn"]}}, r"among.any: has as_drawn, which is no attack; expected a set"),
        ({"among": {"as_drawn": ["as_drawn"], "any": ["norm", "as_drawn"]}}, r"among.any: has as_drawn, which is no"),
        ({"among": {}}, r"table.worst.among: \{\}; should have at least 1 item"),
        ({"leaks": {"atack_utility": "more"}}, r"table.worst.leaks: there is no metric 'atack_utility'; did you mean"),
        ({"leaks": {"attack_utility": "most"}}, r"table.worst.leaks.attack_utility: 'most'"),
    ],
)
def test_a_worst_that_cannot_be_meant_is_refused(planned, changed, message):
    with pytest.raises(InputError, match=message):
        planned(**WITH_WORST, worst=WORST | changed)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"floor": "send_nothin"}, r"table.kept.floor: there is no defense 'send_nothin'"),
        (
            {"utility": "test_utilty"},
            r"table.kept.utility: there is no metric 'test_utilty'; did you mean 'test_utility'",
        ),
    ],
)
def test_a_floor_or_utility_that_is_not_there_is_refused(planned, changed, message):
    with pytest.raises(InputError, match=message):
        planned(kept={"utility": "test_utility", "floor": "none"} | changed)


# What an exhibit shows beside its cells.


def test_printed_numbers_of_an_exhibit_that_is_not_there_are_refused(planned):
    message = r"papers/mine/paper.yaml exhibits.table.printed: there is no exhibit 'tabel'; did you mean 'table'"
    with pytest.raises(InputError, match=message):
        planned(printed=["tabel"])


def test_the_options_of_a_plot_have_the_styles_of_its_methods_and_what_values_are_called(planned):
    plan = planned()
    beside = plan.plot_options("mine", "table")
    assert {kind: set(own) for kind, own in beside["styles"].items()} == {
        "defense": {"none", "dp"}, "attack": {"norm", "model_completion"},
    }  # fmt: skip
    assert beside["numbers"] == []
    assert beside["knowing"] == []
    assert Plan(CONFIG).plot_options("arena", "adaptive_features")["knowing"] == ["undo"]
    assert Plan(CONFIG).plot_options("tappfl", "figure3")["values"]["adult_gender"] == ["female", "male"]


# What is written in lines.


@pytest.mark.parametrize(
    ("section", "entry", "message"),
    [
        (
            "claims",
            {"check": "test_auc in table"},
            "claims.new: has no 'says'; expected the sentence with its place in parentheses",
        ),
        ("claims", {"says": "It is useful. (Section 1)"}, "claims.new: has no 'check'; it is needed"),
        (
            "exhibits",
            {"shows": "auc of norm under none"},
            "exhibits.new: shows no setups; expected `on` and their names",
        ),
    ],
)
def test_what_a_line_must_say_is_told_by_its_name(planned, tmp_path, section, entry, message):
    planned()
    file = tmp_path / "papers/mine/paper.yaml"
    paper = yaml.safe_load(file.read_text())
    plain = {"title": "t", "caption": "c", "draw": {"use": "table"}} if section == "exhibits" else {}
    paper[section]["new"] = plain | entry
    file.write_text(yaml.safe_dump(paper))
    with pytest.raises(InputError) as refused:
        Plan(copy.deepcopy(CONFIG) | {"papers": ["mine"]}, tmp_path)
    assert str(refused.value).startswith(f"papers/mine/paper.yaml {message}")


# What a check names.


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("test_auc under dpp in table", "there is no defense of table 'dpp'; did you mean 'dp'?"),
        ("test_auc of norms in table", "there is no attack of table 'norms'; did you mean 'norm'?"),
        ("leak_au - test_auc in table", "there is no metric of table 'leak_au'; did you mean 'leak_auc'?"),
        ("test_auc in table on digits", "there is no setup of table 'digits'; did you mean 'digits_vs_rest'?"),
        ("test_auc in tabel", "there is no exhibit 'tabel'; did you mean 'table'?"),
        ("test_auc under dp[epsilo=1.0] in table", "there is no setting of dp 'epsilo'; did you mean 'epsilon'?"),
        ("test_auc under dp[strong] in table", "there is no setting of dp 'strong'; known: "),
        (
            "at_equal_leak(test_auc of model against leak_auc of hint under dp - none) in table",
            "there is no attack of table 'hint'; known: ",
        ),
    ],
)
def test_a_check_names_what_its_exhibit_shows(planned, tmp_path, line, message):
    planned(metrics=["leak_auc", "test_auc"])
    file = tmp_path / "papers/mine/paper.yaml"
    paper = yaml.safe_load(file.read_text())
    config = copy.deepcopy(CONFIG) | {"papers": ["mine"]}
    config["setups"]["digits_vs_rest_more"] = config["setups"]["digits_vs_rest"]
    for check, wrong in (
        ("test_auc of model under dp[epsilon=1.0] - none in table on digits_vs_rest", ""),
        (line, message),
    ):
        paper["claims"] = {"useful": {"says": "It is useful. (Section 1)", "check": check}}
        file.write_text(yaml.safe_dump(paper))
        if not wrong:
            Plan(config, tmp_path)
            continue
        with pytest.raises(InputError) as refused:
            Plan(config, tmp_path)
        assert str(refused.value).startswith(f"papers/mine/paper.yaml claims.useful.check: {wrong}")
