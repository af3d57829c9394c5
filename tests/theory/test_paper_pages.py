"""Each paper has a page, which counts its errata as paper.yaml does and says at which scale a finding was made."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CONTENTS = {file.parent.name: yaml.safe_load(file.read_text()) for file in ROOT.glob("workflow/papers/*/paper.yaml")}
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
    assert any(re.fullmatch(r"What we find at scale (quick|reference|paper)", heading) for heading in parts(paper))
