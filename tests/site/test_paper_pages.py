"""Each paper has a page, which counts its errata as paper.yaml does; what it finds is written from claims.csv."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cutlayer.plan import families
from cutlayer.reference import findings
from tests.params import read

ROOT = Path(__file__).parents[2]
CONTENTS = {file.parent.name: read(file) for file in ROOT.glob("workflow/papers/*/paper.yaml")}
PAPERS = sorted(name for name, content in CONTENTS.items() if "errata" in content)  # the arena is no paper


def parts(paper: str) -> dict[str, str]:
    """The page by its headings."""
    text = (ROOT / f"docs/papers/{paper}.md").read_text()
    return dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", text, flags=re.S | re.M))


def test_every_paper_has_a_page() -> None:
    assert sorted(page.stem for page in (ROOT / "docs/papers").glob("*.md")) == PAPERS


@pytest.mark.parametrize("paper", PAPERS)
def test_a_page_has_every_erratum(paper: str) -> None:
    assert re.findall(r"^(\d+)\. ", parts(paper)["Errata"], flags=re.M) == list(CONTENTS[paper]["errata"])


@pytest.mark.parametrize("paper", PAPERS)
def test_findings_say_their_scale(paper: str) -> None:
    table = next(place for place in findings.PLACE.finditer(parts(paper)["What we find"]) if place["paper"] == paper)
    assert re.search(r"^\*Scale \w+( and \w+)?, \d+ seeds, ", table[0], flags=re.M)
    assert "**holds" in table[0]


@pytest.mark.parametrize("paper", [*PAPERS, "arena"])
def test_a_table_of_findings_has_claims_that_the_papers_have(paper: str) -> None:
    page = ROOT / ("docs/arena.md" if paper == "arena" else f"docs/papers/{paper}.md")
    for place in findings.PLACE.finditer(page.read_text()):
        assert {*findings.chosen(place)} <= {
            *families.read(ROOT / "workflow/papers" / place["paper"], place["paper"])["claims"]
        }
