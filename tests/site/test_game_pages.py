"""The page of each game names each of its methods, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cutlayer.plan import plugins

DOCS = Path(__file__).parents[2] / "docs/games"
GAMES = sorted(page.stem for page in DOCS.glob("*.md"))
HEADINGS = {"defense": "Defenses", "attack": "Attacks", "model": "Models"}


def named(page: str, heading: str) -> list[str]:
    """The first column of the table under a heading."""
    (part,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", page, flags=re.S | re.M)
    return re.findall(r"^\| `(\w+)` \|", part, flags=re.M)


def test_every_game_has_a_page() -> None:
    assert plugins.names("protocol") == GAMES


@pytest.mark.parametrize("kind", HEADINGS)
@pytest.mark.parametrize("game", GAMES)
def test_a_page_names_the_methods_of_its_game(game: str, kind: str) -> None:
    assert sorted(named((DOCS / f"{game}.md").read_text(), HEADINGS[kind])) == plugins.names(kind, game)


@pytest.mark.parametrize("game", GAMES)
def test_a_page_has_the_hooks_of_its_contract(game: str) -> None:
    contract = (plugins.ROOT / f"games/{game}/defense.py").read_text().split("class Defense(")[1]
    hooks = re.findall(r"^    def ([a-z]\w*)\(", contract, flags=re.M)
    (part,) = re.findall(r"^## The hooks.*?(?=^## )", (DOCS / f"{game}.md").read_text(), flags=re.S | re.M)
    assert sorted(re.findall(r"^\| `(\w+)` \|", part, flags=re.M)) == sorted(hooks)
