"""Parts of a plan: exhibits of printed numbers, and those that can be made of some setups, defenses and attacks."""

from __future__ import annotations

from typing import Any

import pytest
from tests.params import params

from cutlayer.core.errors import InputError
from cutlayer.plan import check_lines, parts
from cutlayer.plan.plan import Plan

CONFIG = params()


def plan(scale: str = "quick", **only: list[str]) -> Plan:
    return Plan(CONFIG | {"scale": scale} | ({"only": only} if only else {}))


WHOLE = plan()
PRINTED = plan("printed")


def asked_of(paper: dict[str, Any]) -> set[str]:
    checks = [check for entry in paper["numbers"] if "check" in entry for check in check_lines.of(entry)]
    return {check["exhibit"] for check in checks}


def test_at_scale_printed_there_are_those_exhibits_of_which_a_paper_prints_numbers():
    assert "arena" in WHOLE.papers
    assert "arena" not in PRINTED.papers
    for name, paper in PRINTED.papers.items():
        assert {*paper["exhibits"]} == asked_of(paper) == asked_of(WHOLE.papers[name])
        assert paper["numbers"] == WHOLE.papers[name]["numbers"]
        assert {claim["check"]["exhibit"] for claim in paper["claims"].values()} <= {*paper["exhibits"]}


def test_scale_printed_has_the_sizes_of_scale_paper_and_as_many_settings_or_fewer():
    assert PRINTED.judged_at["reduced"] == {"setup": {}, "defense": {}, "attack": {}}
    assert len(PRINTED.seeds) == 3
    paper = plan("paper")
    thinned = PRINTED.defense("celeba_male", "adv")["sweep"]
    assert thinned == {"weight": paper.defense("celeba_male", "adv")["sweep"]["weight"], "steps": [5]}


def test_setups_are_cut_and_every_paper_keeps_what_it_shows_of_them():
    own = plan(setups=["mnist", "wine"])
    shown = {s for _, _, exhibit in own.exhibits() for s in exhibit["setups"]}
    assert shown == {"mnist", "wine"}
    assert not own.left_out
    assert "tcpo" not in own.papers
    table = own.papers["secdt"]["exhibits"]["table1"]
    assert table["defenses"] == WHOLE.papers["secdt"]["exhibits"]["table1"]["defenses"]
    assert {row["setup"] for row in table["inapplicable"]} == {"mnist"}


def test_of_defenses_the_undefended_stays_and_of_attacks_that_which_settings_are_chosen_by():
    table = plan(defenses=["tcpo"], attacks=["dsa"]).papers["tcpo"]["exhibits"]["table3"]
    assert table["defenses"] == ["none", "tcpo"]
    assert table["attacks"] == ["basic", "dsa"]


def test_what_compares_methods_that_are_not_run_is_left_out_and_said():
    own = plan(defenses=["marvell"])
    assert "worst" in WHOLE.papers["arena"]["exhibits"]["labels"]
    assert "labels" not in own.papers.get("arena", {"exhibits": {}})["exhibits"]
    lines = dict(line.split(" is left out: ") for line in own.left_out)
    assert lines["arena labels"] == "it compares the worst of several attacks, of which some are not run"
    assert lines["marvell comparison"] == "it compares all methods, of which some are not run"
    assert "labels" in plan(setups=["digits_vs_rest"]).papers["arena"]["exhibits"]


def test_grids_and_attributes_are_of_the_setups_that_are_left():
    exhibits = plan(setups=["adult_sex"], defenses=["adv"]).papers["tcpo"]["exhibits"]
    assert {(row["setup"], row["defense"]) for row in exhibits["table2"]["grids"]} == {("adult_sex", "adv")}
    assert [*plan(setups=["adult_sex"]).papers["tcpo"]["exhibits"]["table1"]["sensitive"]] == ["adult_sex"]


@pytest.mark.parametrize(
    ("only", "said"),
    [
        ({"setups": ["mnst"]}, r"only\.setups: there is no setup 'mnst'; did you mean 'mnist'"),
        ({"attacks": ["nrm"]}, r"only\.attacks: there is no attack 'nrm'; did you mean 'norm'"),
        ({"setups": ["wine"], "defenses": ["tcpo"]}, "only: no exhibit can be made of these"),
        ({"games": ["split"]}, "there is no key 'games'"),
    ],
)
def test_a_part_that_is_none_is_an_error(only, said):
    with pytest.raises(InputError, match=said):
        plan(**only)


@pytest.mark.parametrize("kept", ["one", "other"])
def test_an_entry_of_several_readings_stays_with_any_of_their_exhibits(kept):
    readings = {"first": {"exhibit": "one"}, "second": {"exhibit": "other"}}
    entry = {"check": readings["first"], "readings": readings}
    alone = {"check": {"exhibit": "third"}}
    paper = {"exhibits": {name: {} for name in ("one", "other", "third")}, "claims": {"a": entry, "b": alone}}
    paper |= {"numbers": [entry, alone, {"without": "reason"}], "main": [{"text": "A.", "claims": ["a", "b"]}]}
    cut = parts.with_exhibits(paper, {kept: {}})
    assert cut["claims"] == {"a": {"check": {"exhibit": kept}, "readings": readings}}
    assert cut["numbers"] == [cut["claims"]["a"], {"without": "reason"}]
    assert cut["main"] == [{"text": "A.", "claims": ["a"]}]


def test_what_a_part_lacks_has_a_reason_in_the_ledger():
    assert WHOLE.judged_at["absent"] == ""
    assert plan(setups=["wine"]).judged_at["absent"] == PRINTED.judged_at["absent"] == parts.NOT_RUN
