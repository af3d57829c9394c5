"""Families of a paper.yaml: what is written once stands for the entries that are meant, and for nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tests import written

from cutlayer.core.errors import InputError
from cutlayer.plan import families
from cutlayer.plan.check_lines import parsed

PAPERS = sorted(path.parent for path in (Path(__file__).parents[2] / "workflow/papers").glob("*/paper.yaml"))
PRINTED = """paper,item,dataset,target,method,metric,value,note
p,t,wine,norm,none,auc,0.9,
p,t,wine,norm,ours,auc,0.5,
p,t,bank,hint,ours,auc,0.6,
p,u,bank,-,-,rows,7,
"""
CHECK = "auc under ours - none in e <= 0"
CLAIM = {"says": "ours stops {attack} (table 1)", "check": CHECK}
OTHER = CLAIM | {"says": "ours (table 1)"}
WORDS = {"attack": {"norm": {"text": "the norm attack", "most": 0.5, "setups": "a, b"}, "hint": {"text": "hints"}}}
NUMBER = {"check": "auc of {target} in e", "depends_on_scale": True}

READING = {
    "open": "whether scores are rounded", "place": "section 3", "alternatives": {"rounded": "to two", "raw": "all"},
    "chosen": "raw", "decided_by": [{"item": "t", "method": "none"}], "measured": "table.md", "why": "nearest",
}  # fmt: skip


@pytest.fixture
def read(tmp_path):
    """`read(claims=..., ...)`: a paper of these sections as the plan has it."""

    def of(**sections):
        (tmp_path / "paper.yaml").write_text(yaml.safe_dump({"title": "t", "authors": "a"} | sections, sort_keys=False))
        (tmp_path / "published.csv").write_text(PRINTED)
        return families.read(tmp_path, "papers/p/paper.yaml")

    return of


def test_printed_numbers_are_read_after_a_byte_order_mark(tmp_path):
    folder = next(path for path in PAPERS if path.name == "secdt")
    (tmp_path / "paper.yaml").write_bytes((folder / "paper.yaml").read_bytes())
    (tmp_path / "published.csv").write_text((folder / "published.csv").read_text(), encoding="utf-8-sig")
    assert families.read(tmp_path, "p") == families.read(folder, "p")


# What is meant.


def test_a_claim_of_several_readings_has_a_check_for_each(read):
    entry = CLAIM | {"check": {"raw": CHECK, "softmax": "auc under {attack} - none in e <= 0"}}
    claim = read(claims={"c": entry | {"for": {"attack": ["norm"]}}})["claims"]["c"]
    assert claim["check"] == claim["readings"]["raw"] == parsed(CHECK, "c")
    assert claim["readings"]["softmax"] == parsed("auc under norm - none in e <= 0", "c")


def test_what_is_said_of_a_claims_checks_is_part_of_each(read):
    entry = OTHER | {"check": {"one": CHECK, "two": CHECK}, "sides": "one"}
    claim = read(claims={"c": entry})["claims"]["c"]
    assert [check["sides"] for check in (claim["check"], *claim["readings"].values())] == ["one"] * 3
    assert "sides" not in claim


def test_a_family_is_an_entry_for_each_case(read):
    claims = read(claims={"stops_{attack}": CLAIM | {"for": {"attack": ["norm", "hint"]}}})["claims"]
    assert {name: claim["text"] for name, claim in claims.items()} == {
        "stops_norm": "ours stops norm",
        "stops_hint": "ours stops hint",
    }
    assert claims["stops_norm"]["check"] == parsed(CHECK, "c") == claims["stops_hint"]["check"]
    assert claims["stops_norm"].keys() == {"text", "place", "check"}


def test_of_several_keys_every_combination_is_meant_and_of_a_list_one_after_the_other(read):
    cases = [{"attack": ["norm", "hint"], "on": ["images", "tables"]}, {"attack": ["spectral"], "on": ["tables"]}]
    claims = read(claims={"{attack}_{on}": CLAIM | {"for": cases}})["claims"]
    assert [*claims] == ["norm_images", "norm_tables", "hint_images", "hint_tables", "spectral_tables"]


def test_a_word_stands_for_what_the_paper_says_of_a_value(read):
    own = {"says": "ours stops {attack.text} (here)", "for": {"attack": ["norm", "hint"]}}
    claims = read(words=WORDS, claims={"{attack}": CLAIM | own})["claims"]
    assert [claim["text"] for claim in claims.values()] == ["ours stops the norm attack", "ours stops hints"]


def test_a_check_is_read_after_its_placeholders(read):
    check = "auc under [x={attack.most}] in e on {attack.setups} <= {attack.most}"
    own = CLAIM | {"check": check, "for": {"attack": ["norm"]}}
    found = read(words=WORDS, claims={"{attack}": own})["claims"]["norm"]["check"]
    assert (found["at_most"], found["setups"], found["left"]["setting"]) == (0.5, ["a", "b"], "x=0.5")


def test_a_placeholder_alone_becomes_the_list_that_it_stands_for(read):
    own = {"draw": {"use": "{kind.of}"}, "title": "{kind}", "settings": "{kind.only}", "for": {"kind": ["table"]}}
    words = {"kind": {"table": {"of": "bars", "only": ["a", "b"]}}}
    assert read(words=words, exhibits={"{kind}": own})["exhibits"]["table"]["settings"] == ["a", "b"]


def test_numbers_are_values_too(read):
    words = {"threshold": {0.005: {"digits": "005"}}}
    own = CLAIM | {"says": "below {threshold} (here)", "for": {"threshold": [0.005]}}
    assert read(words=words, claims={"below_{threshold.digits}": own})["claims"]["below_005"]["text"] == "below 0.005"


def test_an_entry_has_all_of_the_one_that_it_is_like_but_what_it_says(read):
    like = {"like": "first", "says": "another (here)"}
    line = {"like": "second", "check": "auc of norm in e"}
    claims = read(claims={"first": OTHER | {"rule": "below"}, "second": like, "third": line})["claims"]
    assert claims["second"] == claims["first"] | {"text": "another", "place": "here"}
    assert claims["third"] == claims["second"] | {"check": parsed(line["check"], "c")}  # nothing of the other line


def test_defaults_are_below_every_entry(read):
    exhibits = {"table": {"title": "t"}, "figure": {"shows": "along step"}}
    found = read(defaults={"exhibits": {"shows": "of norm along all"}}, exhibits=exhibits)["exhibits"]
    assert found["table"] == {"title": "t", "along": "all", "attacks": ["norm"]}
    assert found["figure"] == {"along": "step", "attacks": ["norm"]}


def test_of_what_a_like_exhibit_shows_only_the_named_parts_are_others(read):
    exhibits = {
        "one": {"shows": "auc of norm under none, ours on a, b"},
        "two": {"like": "one", "shows": "of hint on b"},
    }
    one, two = read(exhibits=exhibits)["exhibits"].values()
    assert two == one | {"attacks": ["hint"], "setups": ["b"]}


def test_the_headline_has_lines_and_an_erratum_ends_with_its_test(read):
    found = read(headline={"leak": {"text": "t", "check": CHECK}}, errata={"1": "It is (3). (test_a.py::test_b)"})
    assert found["headline"]["leak"] == {"text": "t", "check": parsed(CHECK, "c")}
    assert found["errata"] == {"1": {"text": "It is (3).", "check": "test_a.py::test_b"}}


def test_a_number_is_a_row_and_its_columns_are_its_words(read):
    words = {"method": {"none": {"ours": "undefended"}, "ours": {"ours": "marvell"}}}
    check = "auc of {target} under {method.ours} in e"
    entries = [
        NUMBER | {"published": {"item": "t", "target": ["hint", "norm"]}, "check": check, "why": "as {target} is"},
        {"published": {"item": "u"}, "without": "it is private"},
    ]
    found = read(words=words, numbers=entries)["numbers"]
    assert [one["published"]["target"] for one in found] == ["norm", "norm", "hint", "-"]  # as published.csv has them
    assert found[0]["check"]["left"] == {"metric": "auc", "attack": "norm", "defense": "undefended"}
    assert [*found[2]["published"].values()] == ["t", "bank", "hint", "ours", "auc"]
    assert [one["statement"] for one in found] == ["none auc", "ours auc", "ours auc", "rows"]
    assert [one["why"] for one in found] == ["as norm is", "as norm is", "as hint is", ""]


def test_an_auc_as_scored_and_folded_is_read_in_two_ways(read):
    check = "auc of {target} under none in e"
    entries = [NUMBER | {"published": {"item": "t"}, "check": check, "sides": "either"}]
    two = ["a_as_scored", "b_as_scored", "a_folded", "b_folded"]
    for names, given in ((["as_scored", "folded"], check), (two, {"a": check, "b": check})):
        found = read(numbers=[entries[0] | {"check": given}])["numbers"][0]
        assert [*found["readings"]] == names
        assert [one.get("sides") for one in found["readings"].values()] == ["one"] * (len(names) // 2) + [None] * (
            len(names) // 2
        )
        assert found["check"] == found["readings"][names[0]]


def test_a_printed_row_that_decided_a_reading_says_so(read):
    other = READING | {"decided_by": [{"target": "norm"}]}
    entries = [NUMBER | {"published": {"item": "t"}}, {"published": {"item": "u"}, "without": "it is private"}]
    found = read(numbers=entries, readings={"digits": READING, "order": other})["numbers"]
    assert [one.get("decides") for one in found] == [["digits", "order"], ["order"], None, None]


def test_a_reading_that_no_row_decides_marks_none(read):
    text_first = {key: value for key, value in READING.items() if key not in ("decided_by", "measured")}
    (found, *_) = read(numbers=[NUMBER | {"published": {"item": "t"}}], readings={"digits": text_first})["numbers"]
    assert "decides" not in found


@pytest.mark.parametrize("folder", PAPERS, ids=lambda folder: folder.name)
def test_what_measured_a_reading_is_there_and_no_defense_acts_in_a_row_that_decided(folder):
    paper = families.read(folder, folder.name)
    for reading in paper.get("readings", {}).values():
        assert (folder.parents[2] / reading.get("measured", "README.md")).exists()
    acting = {"tcpo": {"adv", "adv2", "infocensor", "linear", "tcpo"}}.get(folder.name, set())
    decided = {number["published"]["method"] for number in paper.get("numbers", []) if "decides" in number}
    assert not decided & acting


@pytest.mark.parametrize("folder", PAPERS, ids=lambda folder: folder.name)
def test_a_paper_in_full_is_read_as_it_is(folder, tmp_path):
    paper = families.read(folder, folder.name)
    (tmp_path / "paper.yaml").write_text(yaml.safe_dump(written.paper(paper), sort_keys=False))
    (tmp_path / "published.csv").write_text((folder / "published.csv").read_text())
    assert families.read(tmp_path, folder.name) == paper
    assert all("{setup}" in one for e in paper["exhibits"].values() for one in e.get("attacked_in", {}).values())


@pytest.mark.parametrize("folder", PAPERS, ids=lambda folder: folder.name)
def test_what_a_paper_repeats_is_a_family_and_no_anchor(folder):
    text = (folder / "paper.yaml").read_text()
    assert not [event for event in yaml.parse(text) if getattr(event, "anchor", None)]
    assert max(map(len, text.splitlines())) <= 130


# What is refused.

FAMILY = CLAIM | {"for": {"attack": ["norm"]}}
WRONG = {
    "a placeholder that is no key": (
        {"claims": {"{attack}": FAMILY | {"rule": "{atack}"}}},
        "claims.{attack}: there is no 'atack' to put in place of {atack}; did you mean 'attack'?",
    ),
    "a placeholder without cases": (
        {"claims": {"c": CLAIM}},
        "claims.c: there is no 'attack' to put in place of {attack}; it has no `for`",
    ),
    "a value of which nothing is said": (
        {"words": WORDS, "claims": {"{attack}": FAMILY | {"for": {"attack": ["nrm"]}, "rule": "{attack.text}"}}},
        "claims.{attack}, {attack.text}: there is no word of attack 'nrm'; did you mean 'norm'?",
    ),
    "a word that is not said": (
        {"words": WORDS, "claims": {"{attack}": FAMILY | {"rule": "{attack.txt}"}}},
        "claims.{attack}, {attack.txt}: there is no word of norm 'txt'; did you mean 'text'?",
    ),
    "one name for two cases": (
        {"claims": {"stops": CLAIM | {"for": {"attack": ["norm", "hint"]}}}},
        "claims.stops: is there twice, once of stops; expected a name for each case",
    ),
    "a name that another entry has": (
        {"claims": {"stops_norm": OTHER, "stops_{attack}": FAMILY}},
        "claims.stops_norm: is there twice, once of stops_{attack}; expected a name for each case",
    ),
    "a key that stands nowhere": (
        {"claims": {"{attack}": FAMILY | {"for": {"attack": ["norm"], "data": ["wine"]}}}},
        "claims.{attack}: its `for` has 'data', which stands nowhere in it; {data}",
    ),
    "a value twice": (
        {"claims": {"{attack}": FAMILY | {"for": {"attack": ["norm", "norm"]}}}},
        "claims.{attack}.for.attack: has 'norm' twice; expected each once",
    ),
    "like one that is not above": (
        {"claims": {"c": {"like": "stops"}, "stop": CLAIM}},
        "claims.c.like: there is no entry above it 'stops'; known: ",
    ),
    "a sentence without its place": (
        {"claims": {"c": CLAIM | {"says": "ours stops it."}}},
        "claims.c.says: 'ours stops it.' does not end in parentheses; expected `The sentence. (Section 1)`",
    ),
    "an erratum without its test": ({"errata": {"1": "It is."}}, "errata.1: 'It is.' does not end in parentheses;"),
    "a reading that is no line": (
        {"claims": {"c": OTHER | {"check": {"raw": CHECK, "softmax": {"exhibit": "e"}}}}},
        "claims.c.check: is no line; expected `<metric> of <attack> under <defense> in <exhibit> >= 0`",
    ),
    "a place apart from what is said there": (
        {"claims": {"c": OTHER | {"place": "table 1"}}},
        "claims.c: has 'place'; it is part of the line `says` (see docs/paper_yaml.md)",
    ),
    "data apart from what is said of them": (
        {"claims": {"c": OTHER | {"datasets": "all"}}},
        "claims.c: has 'datasets'; it is part of the line `says` (see docs/paper_yaml.md)",
    ),
    "a main sentence without its claims": (
        {"main": ["It is so."]},
        "main.0: 'It is so.' does not end in parentheses; ",
    ),
    "a grid apart from the line": (
        {"exhibits": {"e": {"title": "t", "setups": ["a"]}}},
        "exhibits.e: has 'setups'; it is part of the line `shows` (see docs/paper_yaml.md)",
    ),
    "a line that cannot be read": (
        {"claims": {"c": OTHER | {"check": "auc off norm in e"}}},
        "claims.c.check: after 'auc' stands 'off';",
    ),
    "what an exhibit shows, misspelt": (
        {"exhibits": {"e": {"shows": "auc of norm undr none"}}},
        "exhibits.e.shows: 'norm undr none' is no name; did you mean 'under'?",
    ),
    "what an exhibit shows, twice": (
        {"exhibits": {"e": {"shows": "auc of norm of hint"}}},
        "exhibits.e.shows: has 'of' twice; expected each once",
    ),
    "defaults of no section": ({"defaults": {"claim": {}}}, "defaults.claim: 'claim'; should be 'exhibits', 'numbers'"),
    "a column that published.csv has not": (
        {"numbers": [NUMBER | {"published": {"items": "t"}}]},
        "numbers.0.published.items: 'items'; should be 'item', 'dataset'",
    ),
    "a number that is not printed": (
        {"numbers": [NUMBER | {"published": {"item": "t", "target": "nrm"}}]},
        "numbers.0.published: there is no number with target 'nrm'; did you mean 'norm'?",
    ),
    "a number twice": (
        {"numbers": [NUMBER | {"published": {"item": "t"}}, NUMBER | {"published": {"dataset": "bank"}}]},
        "numbers.1: has what another entry has: {'item': 't', 'dataset': 'bank'",
    ),
    "a reading that is none of the alternatives": (
        {"readings": {"digits": READING | {"chosen": "row"}}, "numbers": []},
        "readings.digits: chosen is 'row'; did you mean 'raw'?",
    ),
    "a reading of one way": (
        {"readings": {"digits": READING | {"alternatives": {"raw": "all"}}}, "numbers": []},
        "readings.digits.alternatives: {'raw': 'all'}; should",
    ),
    "a reading decided by what is not printed": (
        {"readings": {"digits": READING | {"decided_by": [{"method": "nonee"}]}}, "numbers": []},
        "readings.digits.decided_by: there is no number with method 'nonee'; did you mean 'none'?",
    ),
    "a number that neither is compared nor says why not": (
        {"numbers": [{"published": {"item": "u"}}]},
        "numbers.0: has not one of `check`, with `depends_on_scale`, and `without`; expected one of the two",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_refused(read, case):
    sections, message = WRONG[case]
    with pytest.raises(InputError) as refused:
        read(**sections)
    assert str(refused.value).startswith(f"papers/p/paper.yaml {message}")
