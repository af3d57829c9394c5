"""`dvc repro` killed at random moments: the next one waits for the workflow that goes on, and finishes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from cutlayer.core.seeds import generator

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
        fresh.ok("python", "workflow/tracking/lock.py")
        process = fresh.start_command("dvc", "repro")
        killed += kill_at(float(rng.uniform(2, 12)), process, "dvc")
        only_whole_files(fresh, undisturbed)
        if process.returncode == 0:
            shutil.rmtree(fresh.folder / "results/scores")
        if killed == KILLS:
            break
    assert killed == KILLS
    assert fresh.make("record").returncode == 0
    same(fresh, undisturbed)
    assert fresh.up_to_date()
    assert fresh.dvc("status", "dvc.yaml").strip().endswith("up to date.")


@pytest.mark.parametrize("committed", [True, False])
def test_half_a_lock_file_is_replaced_by_the_committed_one(committed: bool, changed: Repository) -> None:
    lock = changed.folder / "dvc.lock"
    before = lock.read_text()
    if not committed:
        changed.git("rm", "--quiet", "--cached", "dvc.lock")
        changed.git("commit", "--quiet", "--message", "without a lock file")
    lock.write_text(before[: before.index("md5:") + 1])
    assert changed.call("dvc", "repro").returncode != 0
    assert "half written" in changed.ok("python", "workflow/tracking/lock.py")
    assert (lock.read_text() == before) if committed else not lock.exists()
    changed.dvc("repro")
    assert yaml.safe_load(lock.read_text()) == yaml.safe_load(before)  # stages that need not wait come in any order
