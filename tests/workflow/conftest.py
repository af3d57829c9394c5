"""A copy of the project to run, change and break."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = (
    "Snakefile",
    "params.yaml",
    "rules",
    "envs",
    "workflow",
    "data/sources.csv",
    "README.md",
    "tests/workflow/tiny.yaml",
)
NOWHERE = "http://127.0.0.1:9"  # nothing listens on the discard port: downloads fail at once


@dataclass
class Project:
    """A copy of the project in a folder of its own."""

    folder: Path
    mirror: str = os.environ.get("CUTLAYER_MIRROR", "")

    def snakemake(self, *arguments: str, cores: int = 2, tiny: bool = True) -> subprocess.CompletedProcess[str]:
        config = ["--configfile", "tests/workflow/tiny.yaml"] if tiny else []
        command = [
            sys.executable,
            "-m",
            "snakemake",
            "--cores",
            str(cores),
            "--scheduler",
            "greedy",
            *arguments,
            *config,
        ]
        mirror = str(Path(self.mirror).resolve()) if self.mirror else ""
        environment = os.environ | {"CUTLAYER_MIRROR": mirror}
        environment |= {"http_proxy": NOWHERE, "https_proxy": NOWHERE}
        return subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            text=True,
            capture_output=True,
            timeout=1200,
            check=False,
        )

    def run(self, *arguments: str, cores: int = 2) -> str:
        done = self.snakemake(*arguments, cores=cores)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
        return done.stdout + done.stderr

    def replace(self, file: str, old: str, new: str) -> None:
        text = (self.folder / file).read_text()
        assert old in text, f"{file} does not hold {old!r}"
        (self.folder / file).write_text(text.replace(old, new, 1))

    def csv(self) -> dict[str, bytes]:
        files = sorted((self.folder / "results").rglob("*.csv"))
        return {str(file.relative_to(self.folder)): file.read_bytes() for file in files}


def copy(folder: Path) -> Project:
    for part in PARTS:
        source, target = ROOT / part, folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, target)
    return Project(folder)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A fresh copy, without results."""
    return copy(tmp_path)


@functools.cache
def tiny_run(folder: Path) -> Project:
    """The whole tiny DAG on two cores: once, whichever folder of tests has the fixture below."""
    done = copy(folder)
    done.run("--quiet")
    return done


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy in which the whole tiny DAG ran on two cores; tests leave it as it is."""
    return tiny_run(tmp_path_factory.getbasetemp() / "finished")


@pytest.fixture
def edited(finished: Project, tmp_path: Path) -> Project:
    """A copy of the finished project, results and all, to edit."""
    shutil.copytree(finished.folder, tmp_path / "copy", copy_function=shutil.copy2)
    return Project(tmp_path / "copy")
