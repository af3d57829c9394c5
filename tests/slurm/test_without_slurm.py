"""The profile where there is no SLURM: one sentence, and the workflow ends."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cutlayer.core.errors import InputError
from launch import environment
from tests.workflow.conftest import copy

SAID = "executor.slurm: there is no sbatch on PATH; start it on a login node of the cluster, or without the profile"


def without_sbatch(folder: Path) -> str:
    """A folder, to be PATH, with the few programs that Snakemake itself asks for."""
    folder.mkdir()
    for program in ("bash", "which"):
        (folder / program).symlink_to(str(shutil.which(program)))
    return str(folder)


def test_the_profile_without_sbatch_stops_with_a_sentence(tmp_path: Path) -> None:
    project = copy(tmp_path / "copy")
    command = project.command("--workflow-profile", "workflow/profiles/slurm", "data/normalised/wine.json")
    done = subprocess.run(
        command,
        cwd=project.folder,
        env=project.environment | {"PATH": without_sbatch(tmp_path / "bin")},
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert SAID in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert not (project.folder / "data/normalised").exists()


def test_other_executors_need_no_sbatch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    environment.check("local")
    with pytest.raises(InputError, match="no sbatch on PATH"):
        environment.check("slurm")
