"""Check lines: each statistic has a form, a line means one check and a check has a line, and what is wrong is told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import written

from cutlayer.core.errors import InputError
from cutlayer.plan.check_lines import AT_EQUAL, KINDS, MODEL, parsed
from cutlayer.plan.checks import validate
from cutlayer.plan.lines import grid_of, placed, statement
from cutlayer.plan.paper_model import ALONE, IN_LINES, OF_LISTS, Check, Claim, Exhibit, Number, Reading, Written

NORM = {"metric": "auc", "attack": "norm"}
FORMS = {
    "auc of norm under none in figure1 >= 0.8": {
        "statistic": "value", "left": NORM | {"defense": "none"}, "at_least": 0.8,
    },
    "auc in figure1": {"statistic": "value", "left": {"metric": "auc"}},
    "auc of model under a & b[x=1 & x=2,y=0] in figure1 <= -0.5": {
        "statistic": "value", "at_most": -0.5,
        "left": {"metric": "auc", "attack": "", "defense": ["a", "b"], "setting": ["x=1", "x=2,y=0"]},
    },
    "auc of norm under a[] in figure1 on wine, bank between 1e-9 and 1": {
        "statistic": "value", "setups": ["wine", "bank"], "at_least": 1e-9, "at_most": 1,
        "left": NORM | {"defense": "a", "setting": ""},
    },
    "auc of norm under a[x=1] - none in figure1 <= 0": {
        "statistic": "gap", "at_most": 0,
        "left": NORM | {"defense": "a", "setting": "x=1"}, "right": NORM | {"defense": "none"},
    },
    "auc of norm under a - b[x=1] in figure1": {
        "statistic": "gap", "left": NORM | {"defense": "a"}, "right": NORM | {"defense": "b", "setting": "x=1"},
    },
    "auc of norm under a[x=1] - [x=2] in figure1": {
        "statistic": "gap",
        "left": NORM | {"defense": "a", "setting": "x=1"}, "right": NORM | {"defense": "a", "setting": "x=2"},
    },
    "auc of norm - hint & spectral under a in figure1": {
        "statistic": "gap", "left": NORM | {"defense": "a"},
        "right": {"metric": "auc", "attack": ["hint", "spectral"], "defense": "a"},
    },
    "kept(auc of model under a[x=1] - send_nothing) in figure1": {
        "statistic": "kept", "left": {"metric": "auc", "attack": "", "defense": "a", "setting": "x=1"},
        "right": {"metric": "auc", "attack": "", "defense": "send_nothing"},
    },
    "kept(auc of model under a) in figure1 >= 0.5": {
        "statistic": "kept", "left": {"metric": "auc", "attack": "", "defense": "a"}, "at_least": 0.5,
    },
    "auc - floor of norm in figure1": {"statistic": "gap", "left": NORM, "right": NORM | {"metric": "floor"}},
    "auc of norm - accuracy of hint under a in figure1": {
        "statistic": "gap", "left": NORM | {"defense": "a"},
        "right": {"metric": "accuracy", "attack": "hint", "defense": "a"},
    },
    "auc of norm under a - floor under b in figure1": {
        "statistic": "gap", "left": NORM | {"defense": "a"},
        "right": {"metric": "floor", "attack": "norm", "defense": "b"},
    },
    "auc under a - least(b, c[x=1]) in figure1": {
        "statistic": "gap", "left": {"metric": "auc", "defense": "a"},
        "right": [{"metric": "auc", "defense": "b"}, {"metric": "auc", "defense": "c", "setting": "x=1"}],
    },
    "auc under a[x=1] - most([x=2], [x=3]) in figure1": {
        "statistic": "gap", "left": {"metric": "auc", "defense": "a", "setting": "x=1"}, "of_several": "most",
        "right": [{"metric": "auc", "defense": "a", "setting": f"x={x}"} for x in (2, 3)],
    },
    "auc of norm under a - at where both are in figure1": {
        "statistic": "gap", "left": NORM | {"defense": "a"}, "right": NORM | {"defense": "at"}, "where": "both",
    },
    "auc of norm under at at every place in figure1": {
        "statistic": "value", "left": NORM | {"defense": "at"}, "at": "every",
    },
    "time under a / none in figure1 <= 1.2": {
        "statistic": "ratio", "at_most": 1.2,
        "left": {"metric": "time", "defense": "a"}, "right": {"metric": "time", "defense": "none"},
    },
    "slope(auc of norm) in figure1 <= 0": {"statistic": "slope", "left": NORM, "at_most": 0},
    "largest(auc of norm) at first place in figure1": {"statistic": "largest", "left": NORM, "at": "first"},
    "largest(auc of norm - hint) at last place in figure1": {
        "statistic": "largest_gap", "left": NORM, "right": NORM | {"attack": "hint"}, "at": "last",
    },
    "share(auc of least(norm, hint) < spectral) in figure1 >= 0.5": {
        "statistic": "share_below", "left": [NORM, NORM | {"attack": "hint"}], "right": NORM | {"attack": "spectral"},
        "at_least": 0.5,
    },
    "at_equal_leak(loss of model against auc of norm & hint under a - b) in figure1 >= 0": {
        "statistic": "at_equal_leak", "left": {"defense": "a"}, "right": {"defense": "b"}, "at_least": 0,
        "leak": NORM | {"attack": ["norm", "hint"]}, "utility": {"metric": "loss", "attack": ""},
    },
    "at_equal_utility(loss of model against auc of norm under a - b) in figure1 <= -0.1": {
        "statistic": "at_equal_utility", "left": {"defense": "a"}, "right": {"defense": "b"}, "at_most": -0.1,
        "leak": NORM, "utility": {"metric": "loss", "attack": ""},
    },
}  # fmt: skip


@pytest.mark.parametrize("line", FORMS)
def test_a_line_means_this_check(line):
    check = FORMS[line] | {"exhibit": "figure1"}
    assert parsed(line, "c.check") == check
    assert parsed(written.line(check), "c.check") == check


def test_every_statistic_has_a_form():
    known = Check.model_fields["statistic"].annotation.__args__
    assert {form["statistic"] for form in FORMS.values()} == set(known)


names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True).filter(lambda name: name not in {*KINDS.values(), MODEL})
several = st.one_of(names, st.lists(names, min_size=2, max_size=3, unique=True))
settings = st.lists(st.builds("{}={}".format, names, st.floats(0, 1)), min_size=1, max_size=2).map(",".join)
numbers = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def checks(draw):
    """A check whose sides name the same kinds of things, as everything that is compared does."""
    statistic = draw(st.sampled_from(sorted(form["statistic"] for form in FORMS.values())))
    kinds = draw(st.sampled_from([{}, {"attack": several}, {"defense": several, "setting": settings}]))
    side = st.fixed_dictionaries({"metric": names} | kinds)
    check = {"statistic": statistic, "exhibit": draw(names)}
    if statistic in AT_EQUAL:
        defense = st.fixed_dictionaries({"defense": names})
        check |= {"left": draw(defense), "right": draw(defense), "utility": {"metric": draw(names), "attack": ""}}
        check["leak"] = draw(st.fixed_dictionaries({"metric": names, "attack": several}))
    else:
        check["left"] = draw(side)
        if statistic not in ALONE:
            check["right"] = draw(side)
            if statistic in OF_LISTS:
                others = draw(st.lists(names, min_size=2, max_size=3, unique=True))
                check["right"] = [check["right"] | {"metric": other} for other in others]
                check |= draw(st.sampled_from([{}, {"of_several": "most"}]))
    if statistic not in {"share_below", "slope", "kept", *AT_EQUAL}:
        check |= draw(st.sampled_from([{}, {"at": "first"}, {"at": "every"}, {"where": "both"}]))
    bounds = [{}, {"at_most": numbers}, {"at_least": numbers}, {"at_most": numbers, "at_least": numbers}]
    check |= draw(st.sampled_from(bounds).flatmap(st.fixed_dictionaries))
    setups = {"setups": st.lists(names, min_size=1, unique=True)}
    return check | draw(st.sampled_from([{}, setups]).flatmap(st.fixed_dictionaries))


@given(check=checks())
def test_every_check_is_what_its_line_means(check):
    validate(check, Check, "c.check")
    assert parsed(written.line(check), "c.check") == check


WRONG = {
    "": "it ends; a metric comes first",
    "under none in e": "stands 'under'; a metric comes first",
    "auc undr none in e": "after 'auc' stands 'undr'; did you mean 'under'?",
    "auc of norm under none inn e": "after 'auc of norm under none' stands 'inn'; did you mean 'in'?",
    "auc of norm": "after 'auc of norm' it ends; expected &, -, /, at, in, under, where",
    "auc of in e": "after 'auc of in' stands 'e'; expected &, -, /, at, in, under, where",
    "auc of - hint in e": "after 'auc of' stands '-'; expected a name",
    "auc in <= 0": "after 'auc in' stands '<='; expected an exhibit",
    "auc in e on <= 0": "after 'auc in e on' stands '<='; expected a setup",
    "auc of norm of hint in e": "after 'auc of norm' stands 'of'; expected ",
    "auc of norm - hint - spectral in e": "after 'auc of norm - hint' stands '-'; expected ",
    "auc under a of norm in e": "after 'auc under a' stands 'of'; expected ",
    "auc of norm[x=1] in e": "after 'auc of norm[x=1]' stands 'in'; a [setting] comes after a defense",
    "auc at begin place in e": "after 'auc at' stands 'begin'; expected every, first, last",
    "auc where both in e": "after 'auc where both' stands 'in'; expected are",
    "auc in e < 0": "after 'auc in e' stands '<'; did you mean '<='?",
    "auc in e >= none": "after 'auc in e >=' stands 'none'; expected a number",
    "auc in e >= 0 <= 1": "after 'auc in e >= 0' stands '<='; the line ends here",
    "auc in e between 0, 1": "after 'auc in e between 0' stands ','; expected and",
    "larges(auc) in e": "after 'larges' stands '('; expected ",
    "slope(auc - floor) in e": "after 'slope(auc' stands '-'; expected ",
    "share(auc of norm - hint) in e": "after 'share(auc of norm' stands '-'; expected ",
    "auc under least(a, b) - most(c, d) in e": "expected one of `least` and `most` in a line",
    "at_equal_leak(auc of norm under a - b) in e": "after 'at_equal_leak(auc of norm under a' stands '-'; expected ",
    "at_equal_utility(loss of model against auc under a - b) in e": "`at_equal_utility(<metric> of model against",
}


@pytest.mark.parametrize("line", WRONG)
def test_refused(line):
    with pytest.raises(InputError) as refused:
        parsed(line, "papers/p/paper.yaml claims.c.check")
    assert str(refused.value).startswith("papers/p/paper.yaml claims.c.check: ")
    assert WRONG[line] in str(refused.value)


# The other lines.

texts = st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"], exclude_characters="()"), min_size=1)


@given(text=texts, place=texts, inner=st.sampled_from(["", " (a)", " (b), (c)", " (f(x))"]))
def test_a_sentence_ends_with_its_place(text, place, inner):
    assert statement(f"{text} ({place}{inner})", "c.says") == (text, place + inner)


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ("Section 1", {"place": "Section 1"}),
        ("Section 1; of any data", {"place": "Section 1", "datasets": "all"}),
        (
            "Figure 4 (a); Conclusion; of bank, wine",
            {"place": "Figure 4 (a); Conclusion", "datasets": ["bank", "wine"]},
        ),
        ("Figure 4; Conclusion", {"place": "Figure 4; Conclusion"}),
        ("Section 1; ours", {"place": "Section 1", "datasets": []}),
        ("ours", {"place": "Ours", "datasets": []}),
    ],
)
def test_a_place_may_be_followed_by_whose_data_are_spoken_of(end, expected):
    assert placed(f"It is so (2). ({end})", "c.says") == {"text": "It is so (2)."} | expected


@pytest.mark.parametrize("sentence", ["It is so.", "It is so. ()", "(Section 1)", "It is so. Section 1)", ""])
def test_a_sentence_without_a_place_is_refused(sentence):
    with pytest.raises(InputError, match=r"does not end in parentheses; expected `The sentence\. \(Section 1\)`"):
        statement(sentence, "c.says")


def test_what_is_shown_are_the_parts_that_are_named():
    assert grid_of("of norm, hint under all on a, {b}_l2 along step", "e") == {
        "attacks": ["norm", "hint"], "defenses": "all", "setups": ["a", "{b}_l2"], "along": "step",
    }  # fmt: skip
    assert grid_of("auc from scores, utility", "e") == {"metrics": ["auc"], "sources": ["scores", "utility"]}


def test_the_page_has_every_key_and_its_lines_can_be_read():
    page = (Path(__file__).parents[2] / "docs/paper_yaml.md").read_text(encoding="utf-8")
    first = "".join(re.findall(r"^\|([^|]*)\|", page, flags=re.M))  # cells of its tables
    named = {*re.findall(r"`([a-z_]+)`", first)}
    keys = {key for model in (Written, Exhibit, Claim, Number, Reading) for key in model.model_fields}
    in_text = {"for", "like", "says", "shows", "published"}
    assert keys - IN_LINES.keys() - in_text <= named
    assert in_text <= {*re.findall(r"`([a-z_]+)`", page)}
    lines = re.findall(r'^ *check: "?(.*?)"?$', page, flags=re.M) + re.findall(r"```text\n(.*)\n```", page)
    assert len(lines) == 4
    for line in lines:
        assert parsed(re.sub(r"\{[^}]*\}", "name", line), "page")["exhibit"]
