"""A paper at a glance: one sign of several verdicts, how much is decided, what would decide the rest."""

from __future__ import annotations

from math import nan
from types import SimpleNamespace

import pandas as pd
import pytest

from cutlayer.ledger import names, overview, verdicts
from cutlayer.ledger.claims import COLUMNS
from cutlayer.ledger.readable import readable
from cutlayer.site import build, marks, papers


def chip(*found: str) -> overview.Chip:
    return overview.Chip(
        "wine", overview.tally(found), any(word.endswith(verdicts.MARK) for word in found), False, False, "real"
    )


@pytest.mark.parametrize(
    ("found", "word", "text"),
    [
        (["holds"], "holds", "holds"),
        (["holds", "holds (reduced)"], "holds", "holds"),
        (["holds", "undecided", "undecided"], "holds in part", "1 holds, 2 undecided"),
        (["fails", "no signal"], "fails in part", "1 fails, 1 no signal"),
        (["differs", "holds"], "mixed", "1 holds, 1 differs"),
        (["fails", "holds", "undecided"], "mixed", "1 holds, 1 fails, 1 undecided"),
        (["undecided", "stand-in"], "open", "1 undecided, 1 stand-in"),
    ],
)
def test_several_verdicts_are_one_word_that_never_says_more_than_they_do(found, word, text):
    assert (chip(*found).word, chip(*found).text) == (word, text)


def test_every_verdict_has_a_sign_of_its_own_and_a_meaning():
    words = {overview.plain(word) for word in verdicts.ORDER}
    assert set(marks.ICONS) == set(marks.MEANINGS) == words
    assert len(set(marks.ICONS.values())) == len(words)


def rows(*found: str) -> pd.DataFrame:
    return pd.DataFrame({"verdict": found, "scale": "quick"})


def test_undecided_is_not_counted_as_decided():
    said = overview.decided(rows("holds", "fails (reduced)", "undecided (reduced)", "stand-in"))
    assert said.startswith(
        "Of 4 statements and numbers 2 are decided at scale quick (1 holds, 1 fails), 1 of them on less"
    )
    assert overview.decided(rows("stand-in")) == "Of 1 statements and numbers 0 are decided at scale quick."
    both = pd.concat([rows("holds"), rows("fails").assign(scale="printed")])
    assert "2 are decided at scale quick and printed (" in overview.decided(both)


@pytest.mark.parametrize(("scale", "next_one"), [("quick", "reference"), ("tiny", "reference"), ("reference", "paper")])
def test_a_larger_scale_would_decide_what_is_open(scale, next_one):
    (line,) = overview.rest(overview.tally(["undecided", "no signal", "holds"]), scale)
    assert line.startswith(f"1 undecided, 1 without signal: `--config scale={next_one}`")
    (line,) = overview.rest({"stand-in": 3}, scale)
    assert "original files" in line


def test_the_next_scale_comes_with_the_command_that_tells_its_hours():
    assert "`make plan SCALE=reference`" in overview.of_scale(["quick"])
    assert "`make plan SCALE=paper`" in overview.of_scale(["reference"])


def test_no_scale_is_larger_than_the_papers():
    assert [*overview.rest({"undecided": 2}, "paper")] == ["2 undecided: more seeds tell."]
    assert "larger" not in overview.of_scale(["paper"])
    assert "at the scales reference and printed" in overview.of_scale(["reference", "printed"])
    assert [*overview.rest({"holds": 2}, "quick")] == []


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        (["full", "full"], "1 undecided: more seeds tell."),
        (["reduced: rows", "full"], "`--config scale=paper` tells more."),
    ],
)
def test_of_what_has_the_papers_sizes_no_larger_scale_tells_more(sizes, said):
    table = rows("undecided", "holds").assign(paper="p", size=sizes)
    content = {"p": {"title": "", "authors": "", "datasets": []}}
    (one,) = overview.papers(table, content, ["reference"])
    assert one.rest[0].endswith(said)


def test_a_name_breaks_at_its_underscores():
    assert marks.broken("leak_auc<") == "leak_<wbr>auc&lt;"


def test_data_of_the_paper_come_first_and_ours_are_said_to_be():
    table = pd.DataFrame(
        [("wine", "ours", "holds", "real", "yes", ""), ("bank", "claim", "holds", "real", "", "raw")],
        columns=["dataset", "kind", "verdict", "provenance", "alone", "reading"],
    )
    assert [one.text for one in overview.chips(table, ["robot", "bank"])] == ["holds, read as raw", "holds"]
    assert [(one.dataset, one.ours, one.alone) for one in overview.chips(table, ["robot", "bank"])] == [
        ("bank", False, False),
        ("wine", True, True),
    ]


def test_claims_are_grouped_as_the_abstract_has_them_and_then_by_place():
    places = {"late": "Section 5, table 1", "first": "Section 9", "later": "Section 5"}
    common = {"dataset": "wine", "rule": "", "threshold": "at least 0"}
    said = [common | {"item": name, "place": place, "statement": name} for name, place in places.items()]
    found = papers.groups({"main": [{"text": "It works.", "claims": ["first"]}]}, said)
    assert [(group["title"], [claim["text"] for claim in group["claims"]]) for group in found] == [
        ("It works.", ["first"]), ("Section 5", ["late", "later"]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("setup", "dataset", "title"),
    [
        ("bank", "bank", "Bank"),
        ("bank_l2", "bank", "Bank: L2 penalty"),
        ("adult_gender", "adult_codes", "Adult (coded): gender"),
        ("digits_images", "digits", "Digits: images"),
        ("cifar10_animal", "cifar10", "CIFAR-10: animal"),
        ("", "production", "Production"),
    ],
)
def test_data_have_names_that_people_read(setup, dataset, title):
    assert names.of_setup(setup, dataset) == title


def test_a_row_shows_its_reading_and_what_a_one_sided_auc_leaks(tmp_path):
    row = dict.fromkeys(COLUMNS, "") | {"verdict": "holds", "kind": "claim", "dataset": "wine", "seeds": 5}
    row |= {"ours": 0.42, "low": 0.4, "high": 0.44, "difference": nan, "published": nan, "folded": 0.58}
    shown = readable(pd.DataFrame([row | {"reading": "raw_noise"}])).to_dict("records")
    given = SimpleNamespace(papers={}, scales=["paper"], documents=[], other=None, api=False)
    build._writer(given, tmp_path)("rows.html", "rows", rows=shown, rule="")
    page = (tmp_path / "rows.html").read_text(encoding="utf-8")
    assert "<small>read as raw noise</small>" in page
    assert "0.420 <small>0.400 to 0.440</small> <small>folded 0.580</small>" in page
