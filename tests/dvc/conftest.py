"""Copies of the project, finished at the tiny scale, in git repositories of their own with DVC on top."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent

import pytest
import yaml

from ..workflow.conftest import LONG, OFFLINE, ROOT, Project, finished, linked, once, project, undisturbed  # noqa: F401

PARTS = ("dvc.yaml", ".dvc/config", ".dvc/.gitignore", ".dvcignore", ".gitignore", "Makefile")
BIN = str(Path(sys.executable).parent)


@dataclass
class Repository(Project):
    """A git repository with DVC whose caches and settings stay in a folder beside it."""

    @property
    def environment(self) -> dict[str, str]:
        beside = self.folder.parent
        return os.environ | {
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "CUTLAYER_MIRROR": str(Path(self.mirror).resolve()) if self.mirror else "",
            "DVC_NO_ANALYTICS": "1",
            "DVC_SITE_CACHE_DIR": str(beside / "site"),
            "DVC_GLOBAL_CONFIG_DIR": str(beside / "global"),
            "DVC_SYSTEM_CONFIG_DIR": str(beside / "system"),
            **OFFLINE,
            "no_proxy": "127.0.0.1",
        }

    def call(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, text=True, capture_output=True, timeout=LONG, check=False
        )

    def ok(self, *command: str) -> str:
        done = self.call(*command)
        assert done.returncode == 0, f"{command}: {done.stdout[-3000:]}{done.stderr[-6000:]}"
        return done.stdout + done.stderr

    def dvc(self, *arguments: str) -> str:
        return self.ok("dvc", *arguments)

    def git(self, *arguments: str) -> str:
        return self.ok("git", *arguments)

    def make(self, target: str) -> subprocess.CompletedProcess[str]:
        """A target of the Makefile, with the environment that runs the tests instead of one that make sets up."""
        return self.call("make", "--old-file=setup", f"BIN={BIN}", target)

    def init(self) -> None:
        self.git("init", "--quiet")
        for key in ("name", "email"):
            self.git("config", f"user.{key}", "tests@localhost")

    def save(self, message: str) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)

    def up_to_date(self) -> bool:
        return "Nothing to be done" in self.ok("snakemake", "--dry-run", "--cores", "1")

    def times(self) -> dict[str, int]:
        """When each job last wrote its log."""
        logs = sorted((self.folder / "logs").rglob("*.log"))
        return {str(file.relative_to(self.folder / "logs")): file.stat().st_mtime_ns for file in logs}


def jobs_between(before: dict[str, int], after: dict[str, int]) -> set[str]:
    """The logs, one a job, that are new or written again."""
    return {log for log, time in after.items() if before.get(log) != time}


def stages(output: str) -> dict[str, bool]:
    """Stage -> whether `dvc repro` ran it."""
    ran = dict.fromkeys(re.findall(r"^Running stage '(\w+)'", output, flags=re.M), True)
    return ran | dict.fromkeys(re.findall(r"^Stage '(\w+)' didn't change", output, flags=re.M), False)


def tiny(copy: Project) -> None:
    """Write the tiny scale into params.yaml, for DVC's stages take no --configfile; the rest stays as people wrote it.

    As Snakemake has it: what a --configfile names comes first, and the order is part of what it compares.
    """
    over = yaml.safe_load((copy.folder / "tests/workflow/tiny.yaml").read_text())
    copy.replace("params.yaml", "scale: quick", f"scale: {over['scale']}")
    copy.replace(
        "params.yaml", "scales:\n", f"scales:\n{indent(yaml.safe_dump(over['scales'], sort_keys=False), '  ')}"
    )
    for name, added in reversed(over["attacks"].items()):
        (line,) = re.findall(rf"^  {name}: .*\n", (copy.folder / "params.yaml").read_text(), flags=re.M)
        first = "".join(f"{key}: {value}, " for key, value in added.items())
        copy.replace("params.yaml", line, "")
        copy.replace("params.yaml", "\nattacks:\n", "\nattacks:\n" + line.replace("{ ", f"{{ {first}", 1))


def track(copy: Repository) -> None:
    """Put a copy of the project at the tiny scale under git and DVC."""
    for part in (*PARTS, *(str(file.relative_to(ROOT)) for file in ROOT.glob("data/raw/*/*.dvc"))):
        (copy.folder / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / part, copy.folder / part)
    tiny(copy)
    copy.init()


@pytest.fixture
def tracked(finished: Project, tmp_path: Path) -> Repository:  # noqa: F811
    """The whole finished project under git, all committed; DVC has recorded nothing of it yet."""
    shutil.copytree(finished.folder, tmp_path / "project", copy_function=linked)
    repository = Repository(tmp_path / "project")
    track(repository)
    repository.save("tracked")
    return repository


@pytest.fixture(scope="session")
def recorded(undisturbed: Project, tmp_path_factory: pytest.TempPathFactory) -> Repository:  # noqa: F811
    """The small DAG, finished, under git after its first `dvc repro`, all committed; tests leave it as it is."""

    def record(folder: Path) -> None:
        shutil.copytree(undisturbed.folder, folder)
        repository = Repository(folder, mirror="")
        track(repository)
        before = repository.times()
        repository.dvc("repro")
        assert not jobs_between(before, repository.times()), "`dvc repro` made again what Snakemake had made"
        repository.save("recorded")

    return Repository(once(tmp_path_factory, "recorded", record), mirror="")


@pytest.fixture
def changed(recorded: Repository, tmp_path: Path) -> Repository:
    """A copy of the recorded project, to change."""
    shutil.copytree(recorded.folder, tmp_path / "project", symlinks=True)
    return Repository(tmp_path / "project", mirror="")
