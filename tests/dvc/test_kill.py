"""`dvc repro` killed at random moments: the next one waits for the workflow that goes on, and finishes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cutlayer.seeds import generator

from ..workflow.conftest import Project, copy, prune, undisturbed  # noqa: F401
from ..workflow.test_survival import kill_at, only_whole_files, same
from .conftest import Repository, track

KILLS = 6


@pytest.fixture
def fresh(tmp_path: Path) -> Repository:
    """The small DAG at the tiny scale, under git and DVC, without results."""
    small = copy(tmp_path / "project")
    prune(small)
    repository = Repository(small.folder)
    track(repository)
    return repository


def test_killed_at_random_moments(fresh: Repository, undisturbed: Project) -> None:  # noqa: F811
    rng, killed = generator("survival", "dvc"), 0
    for _ in range(3 * KILLS):
        process = fresh.start_command("dvc", "repro")
        killed += kill_at(float(rng.uniform(2, 12)), process, "dvc")
        only_whole_files(fresh, undisturbed)
        if process.returncode == 0:
            shutil.rmtree(fresh.folder / "results/scores")
        if killed == KILLS:
            break
    assert killed == KILLS
    fresh.dvc("repro")
    same(fresh, undisturbed)
    assert fresh.up_to_date()
    assert fresh.dvc("status").strip().endswith("up to date.")
