"""Contests: an entry has one of the states that the forms name, and says where its issue is."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/contests.md").read_text(encoding="utf-8")
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))


def rows(title: str) -> list[list[str]]:
    """The cells of a table, which the title of its first column names, without its head."""
    (table,) = re.findall(rf"^\| {title} \|.*\n\|[-|]+\n((?:\|.*\n)*)", PAGE, flags=re.M)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


def test_every_form_hands_in_and_names_the_states_of_the_page() -> None:
    states = [state for state, _ in rows("state")]
    assert len(FORMS) == 4
    for form in FORMS:
        content = yaml.safe_load(form.read_text(encoding="utf-8"))
        (said,) = (part["attributes"]["value"] for part in content["body"] if part["type"] == "markdown")
        assert re.findall(r"\*([^*]+)\*", said.replace("\n", " ")) == states
        assert states[0] in content["labels"]


def test_every_contest_has_a_state_and_a_place_and_none_is_said_where_there_is_none() -> None:
    states, contests = {state for state, _ in rows("state")}, rows("row, or method")
    assert all(state in states and what and where for _, what, state, where in contests)
    assert ("No contest has been handed in so far." in PAGE) == (not contests)
