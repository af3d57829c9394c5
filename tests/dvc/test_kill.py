"""Jobs, Snakemake and DVC killed at random moments: what is there is whole, the next command goes on and finishes."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from cutlayer.core.seeds import generator

from ..workflow.conftest import Project, copy, prune, undisturbed  # noqa: F401
from ..workflow.test_survival import kill_at, only_whole_files, same
from .conftest import Repository, track

COMMANDS = {
    "job": ("snakemake", "--cores", "2", "--rerun-incomplete", "--quiet"),
    "snakemake": ("snakemake", "--cores", "2", "--rerun-incomplete", "--quiet"),
    "dvc": ("dvc", "repro"),
}
KILLS = {"job": 7, "snakemake": 7, "dvc": 6}


@pytest.fixture
def fresh(tmp_path: Path) -> Repository:
    """The small DAG at the tiny scale, under git and DVC, without results."""
    small = prune(copy(tmp_path / "project"))
    repository = Repository(small.folder, mirror="")
    track(repository)
    return repository


def test_killed_at_random_moments(
    fresh: Repository,
    undisturbed: Project,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One project for all: each start goes on with what the last one left; after DVC, its Snakemake may still work."""
    monkeypatch.setenv("CUTLAYER_WAIT", "yes")
    rng, left, slow = generator("survival"), dict(KILLS), 8.0
    for attempt in range(3 * sum(KILLS.values())):
        victim = max(left, key=left.__getitem__)
        if victim == "dvc":
            fresh.ok("python", "workflow/tracking/lock.py")
        start = time.monotonic()
        process = fresh.start_command(*COMMANDS[victim])
        left[victim] -= kill_at(float(rng.uniform(0, slow)), process, victim)
        if process.returncode == 0:  # it was faster: leave it something to do
            slow = min(slow, time.monotonic() - start)
            same(fresh, undisturbed)
            shutil.rmtree(fresh.folder / ("results/runs/wine" if attempt % 2 else "results"))
        else:
            only_whole_files(fresh, undisturbed)
        if not any(left.values()):
            break
    assert not any(left.values())
    fresh.ok(*COMMANDS["snakemake"])
    same(fresh, undisturbed)
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
    assert changed.call("dvc", "status", "dvc.yaml").returncode != 0
    said = changed.ok("python", "workflow/tracking/lock.py")
    assert f"half written; it is {'that of the last commit now' if committed else 'removed'}" in said
    assert (lock.read_text() == before) if committed else not lock.exists()
    assert changed.dvc("status", "dvc.yaml").strip().endswith("up to date.") == committed
