"""The history of verdicts: a section for each commit that changed some, and what is written stays."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from cutlayer.core.errors import InputError
from cutlayer.reference import history

ROW = {"paper": "marvell", "kind": "claim", "item": "norm_leaks", "exhibit": "figure1", "statement": "The norm leaks."}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    commit(tmp_path, "First run", {"criteo": "undecided", "avazu": "holds"})
    commit(tmp_path, "More seeds", {"criteo": "holds", "avazu": "holds", "bank": "fails"})
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=someone", "-c", "user.email=someone@example.org"]
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True)


def commit(folder: Path, subject: str, verdicts: dict[str, str]) -> None:
    rows = [",".join([*ROW.values(), data, data, verdict]) for data, verdict in verdicts.items()]
    (folder / history.CLAIMS).parent.mkdir(exist_ok=True)
    (folder / history.CLAIMS).write_text("\n".join([",".join([*history.KEY, "verdict"]), *rows, ""]))
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", subject)


def test_a_change_is_told_with_when_and_why(tree: Path) -> None:
    assert history.update(tree) == 1
    text = (tree / history.HISTORY).read_text()
    assert re.search(r"^## \d{4}-\d\d-\d\d \(\w+\)\n\nMore seeds\n", text, flags=re.M)
    assert "- marvell `norm_leaks`: undecided → holds, 1 row (criteo)\n- 1 row new\n" in text
    assert "First run" not in text


def test_what_is_written_stays_and_what_is_new_is_added(tree: Path) -> None:
    history.update(tree)
    before = (tree / history.HISTORY).read_text()
    assert history.update(tree) == 0
    assert (tree / history.HISTORY).read_text() == before
    commit(tree, "Only how reduced rows are marked", {"criteo": "holds (reduced)", "avazu": "holds", "bank": "fails"})
    commit(tree, "A stricter rule", {"criteo": "fails", "avazu": "fails"})
    assert history.update(tree) == 1
    after = (tree / history.HISTORY).read_text()
    assert after.startswith(before)
    assert "holds → fails, 2 rows (avazu, criteo)\n- 1 row gone\n" in after.removeprefix(before)


def test_a_commit_is_known_however_git_abbreviates_it(tree: Path) -> None:
    history.update(tree)
    page = tree / history.HISTORY
    page.write_text(re.sub(r"\((\w{7})\w\)", r"(\1)", page.read_text()))
    assert history.update(tree) == 0


def test_outside_a_repository_the_error_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"history\.git: "):
        history.update(tmp_path)
