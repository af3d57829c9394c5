"""Jobs, Snakemake and DVC killed at random moments: what is there is whole, the next command goes on and finishes."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path

import pytest

from cutlayer.core.seeds import generator

from ..workflow.conftest import Project, copy, prune, undisturbed  # noqa: F401
from ..workflow.test_survival import kill_at, only_whole_files, same
from .conftest import ROOT, Repository, jobs_between, track

COMMANDS = {
    "job": ("snakemake", "--cores", "2", "--quiet"),
    "snakemake": ("snakemake", "--cores", "2", "--quiet"),
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


def mend(repository: Repository) -> None:
    """Where DVC was killed while it wrote one of its own files, do what docs/troubleshooting.md says."""
    if repository.call("dvc", "status", "dvc.yaml").returncode != 0:
        (command,) = re.findall(r"`(rm -f dvc\.lock .*?)`", (ROOT / "docs/troubleshooting.md").read_text())
        repository.ok(*command.split())


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
            mend(fresh)
        start = time.monotonic()
        process = fresh.start_command(*COMMANDS[victim])
        left[victim] -= kill_at(float(rng.uniform(0, slow)), process, victim)
        if process.returncode == 0:  # it was faster: leave it something to do
            slow = min(slow, time.monotonic() - start)
            same(fresh, undisturbed)
            for part in ("results/runs/wine", "results/cells") if attempt % 2 else ("results",):
                shutil.rmtree(fresh.folder / part)
        else:
            only_whole_files(fresh, undisturbed)
        if not any(left.values()):
            break
    assert not any(left.values())
    fresh.ok(*COMMANDS["snakemake"])
    same(fresh, undisturbed)
    mend(fresh)
    fresh.dvc("repro")
    same(fresh, undisturbed)
    assert fresh.up_to_date()
    assert fresh.dvc("status", "dvc.yaml").strip().endswith("up to date.")


def test_what_dvc_left_half_written_costs_a_look_at_all_jobs(changed: Repository) -> None:
    before = changed.times()
    for file in ("dvc.lock", ".dvc/tmp/rwlock"):
        (changed.folder / file).write_text('{"schema')
        assert changed.call("dvc", "status", "dvc.yaml").returncode != 0
        mend(changed)
        assert changed.call("dvc", "status", "dvc.yaml").returncode == 0
    changed.dvc("repro")
    assert not jobs_between(before, changed.times())
