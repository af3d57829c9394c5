"""A release asks the code of the reference run and that of now what they would run."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutlayer.core.errors import InputError
from release import changes, git

from .conftest import ROOT, replaced

SCALE, PAPERS = "reference", ["chebyshev"]
MODEL = "workflow/cutlayer/games/vertical/models/logistic_regression.py"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """This project's last commit."""
    git.told(ROOT, "clone", "--quiet", "--shared", str(ROOT), str(tmp_path / "clone"))
    return tmp_path / "clone"


def commit(root: Path, message: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    git.told(root, *who, "commit", "--quiet", "--all", "--message", message)
    return git.commit(root, "HEAD")


def test_what_no_number_depends_on_does_not_count(clone: Path) -> None:
    """Words, another paper's code and setups, and another way to say the same."""
    before = git.commit(clone, "HEAD")
    docstring, *_ = (clone / MODEL).read_text().split("\n")
    replaced(clone / MODEL, docstring, f"# A comment.\n{docstring} ")
    with (clone / "workflow/cutlayer/plan/plan.py").open("a") as plan:
        plan.write("\n\nUNUSED = 1\n")
    with (clone / "workflow/cutlayer/games/split/leak.py").open("a") as other:
        other.write("\n\nUNUSED = 1\n")
    replaced(clone / "params.yaml", "test_share: 0.1", "test_share: 0.2")
    commit(clone, "nothing that counts")
    assert changes.since(clone, before, SCALE, PAPERS) == []


def test_what_is_run_and_with_which_parameters_counts(clone: Path) -> None:
    before = git.commit(clone, "HEAD")
    replaced(clone / "params.yaml", "l2: 0.001", "l2: 0.002")
    with (clone / MODEL).open("a") as model:
        model.write("\n\nUNUSED = 1\n")
    commit(clone, "a penalty and code")
    code, *jobs = changes.since(clone, before, SCALE, PAPERS)
    assert code == MODEL
    assert "setup.model.l2" in jobs[0]
    assert all("_l2/" in job for job in jobs)


def test_a_tree_that_cannot_say_is_told(clone: Path) -> None:
    before = git.commit(clone, "HEAD")
    replaced(clone / "params.yaml", "seeds: 5", "sedes: 5")
    commit(clone, "a mistake")
    with pytest.raises(InputError, match=r"release.jobs: the code of HEAD does not say .*: params.yaml .*sedes"):
        changes.since(clone, before, SCALE, PAPERS)
