"""What holds of every paper's file beyond what a plan checks: exhibits are there and described, errata are shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.params import params

from cutlayer.plan import check_lines, families
from cutlayer.plan.plan import Plan

TESTS = Path(__file__).parents[1]
PAPERS = {name: families.read(TESTS.parent / "workflow/papers" / name, name) for name in params()["papers"]}
NAMED = {
    "marvell": ["figure1", "figure2a", "figure2b", "figure2c", "figure3a", "figure3b", "figure3c", "figure4_leak"],
    "secdt": ["figure3", "figure4", "figure5", "table1", "table2", "figure6", "figure7", "figure8"],
    "tcpo": [*(f"table{number}" for number in range(1, 6)), "figure3", "figure4", "comparison"],
    "tappfl": [
        "table1", "table2", "figure2", "figure3", "figure4", "discussion1", "discussion2", "theory", "comparison",
    ],
}  # fmt: skip


def test_every_paper_is_as_its_schema_says_and_its_exhibits_are_drawn_by_methods_that_exist() -> None:
    assert Plan(params()).papers.keys() == PAPERS.keys()


@pytest.mark.parametrize("paper", NAMED)
def test_every_exhibit_of_the_paper_is_there(paper: str) -> None:
    assert {*NAMED[paper]} <= PAPERS[paper]["exhibits"].keys()


@pytest.mark.parametrize("paper", PAPERS)
def test_a_main_sentence_on_aucs_as_they_are_scored_says_auc(paper: str) -> None:
    """An AUC below 1/2 leaks as much as one above, so that a lower one is no smaller leak."""
    for sentence in PAPERS[paper]["main"]:
        checks = [check for name in sentence["claims"] for check in check_lines.of(PAPERS[paper]["claims"][name])]
        if re.search(r"\bleaks?\b", sentence["text"]) and any("sides" in check for check in checks):
            assert "AUC" in sentence["text"]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_exhibit_says_what_it_is(paper: str) -> None:
    for name, exhibit in PAPERS[paper]["exhibits"].items():
        assert exhibit["title"], name
        assert len(exhibit["caption"]) > 40, name


@pytest.mark.parametrize("paper", [name for name, content in PAPERS.items() if "errata" in content])
def test_every_erratum_refers_to_a_test_or_an_exhibit_that_exists(paper: str) -> None:
    for number, entry in PAPERS[paper]["errata"].items():
        kind, _, exhibit = entry["check"].partition("exhibit ")
        file, _, name = kind.partition("::")
        if exhibit:
            assert exhibit in PAPERS[paper]["exhibits"], number
        elif name:
            assert f"\ndef {name}(" in (TESTS / "theory" / file).read_text(encoding="utf-8"), number
        else:
            assert (TESTS.parent / file).is_file(), number
