"""The documents, before they are pages: every link leads somewhere, and all are in the site, in a reader's order."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest

from cutlayer.site import documents, order
from cutlayer.site.marks import slug

from .conftest import ROOT

with contextlib.chdir(ROOT):
    DOCUMENTS = [*order.texts(), "CHANGELOG.md", "AGENTS.md"]
OWN = [name for name in DOCUMENTS if not name.startswith("workflow/")]
FENCED = re.compile(r"^( *)```.*?^\1```", flags=re.S | re.M)


def prose(document: str) -> str:
    """A document without its blocks of code."""
    return FENCED.sub("", (ROOT / document).read_text())


def headings(document: str) -> set[str]:
    """The anchors of a document."""
    return {slug(title) for title in re.findall(r"^#+ (.*)$", prose(document), flags=re.M)}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_leads_to_a_file_of_the_tree(document: str) -> None:
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", prose(document)):
        file, _, part = link.partition("#")
        target = (ROOT / document).parent.joinpath(file).resolve() if file else ROOT / document
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        assert not part or part in headings(str(target.relative_to(ROOT))), link


@pytest.mark.parametrize(("document", "lines"), [("README.md", 90), ("AGENTS.md", 40)])
def test_a_first_page_is_short(document: str, lines: int) -> None:
    assert len((ROOT / document).read_text().splitlines()) <= lines


@pytest.mark.parametrize("document", OWN)
def test_lines_are_short_but_for_tables(document: str) -> None:
    lines = (ROOT / document).read_text().splitlines()
    assert not [line for line in lines if len(line) > 130 and not line.startswith("|")]


def test_every_document_has_its_place_in_the_order() -> None:
    there = {str(file.relative_to(ROOT)) for file in (ROOT / "docs").rglob("*.md")}
    assert {*DOCUMENTS} >= there | {"README.md", "CONTRIBUTING.md"}
    assert DOCUMENTS[0] == "README.md"
    for patterns in order.ORDER.values():
        assert all("*" in name or (ROOT / name).exists() for name in patterns)


def test_a_document_that_is_named_comes_where_it_is_named() -> None:
    grouped = order.groups(
        ["CONTRIBUTING.md", "docs/a.md", "docs/solvers.md", "docs/games/split.md", "README.md", "x.md"]
    )
    assert grouped["Understand"] == ["docs/games/split.md", "docs/solvers.md", "docs/a.md"]
    assert [*grouped] == ["Start", "Understand", "Contribute"]


def test_a_comment_is_left_out_unless_it_is_code(tmp_path: Path) -> None:
    document = tmp_path / "a.md"
    document.write_text("It is so. <!-- rests on a: b holds -->\n\nWrite `<!-- rests on -->`.\n")
    html = documents.rendered(str(document), [], [])["html"]
    assert html == "<p>It is so.</p>\n<p>Write <code>&lt;!-- rests on --&gt;</code>.</p>\n"


def test_a_page_lists_all_others_by_group_and_title(site: Path) -> None:
    page = (site / "docs/docs/first_hour.html").read_text()
    listed = re.findall(r'<li><a href="[./]*docs/([\w/-]+)\.html"', page.partition("</aside>")[0])
    assert [f"{name}.md" for name in listed] == DOCUMENTS[: len(listed)]
    assert re.findall(r"<summary>(.*?)</summary>", page) == ["Documents", *order.ORDER]
    assert re.search(r'aria-current="page">The first hour</a>', page)
    assert "marvell: labels from gradients</a>" in page
