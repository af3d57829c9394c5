"""Links of the documents, before they are pages: each leads to a file of the tree, and to a heading that it has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cutlayer.site.marks import slug

from .conftest import ROOT

DOCUMENTS = sorted(file.relative_to(ROOT) for file in (ROOT / "docs").rglob("*.md"))


def headings(file: Path) -> set[str]:
    """The anchors of a document."""
    return {slug(title) for title in re.findall(r"^#+ (.*)$", file.read_text(), flags=re.M)}


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_every_link_leads_to_a_file_of_the_tree(document: Path) -> None:
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", (ROOT / document).read_text()):
        file, _, part = link.partition("#")
        target = (ROOT / document.parent / file).resolve() if file else ROOT / document
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        assert not part or part in headings(target), link
