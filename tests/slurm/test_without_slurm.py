"""The profile where there is no SLURM: one sentence, and the workflow ends."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake_executor_plugin_slurm import ExecutorSettings

from cutlayer.core.errors import InputError
from launch import environment
from tests.workflow.conftest import copy

from .cluster import Unavailable, installed

SAID = "executor.slurm: there is no sbatch on PATH; start it on a login node of the cluster, or without the profile"


def without_sbatch(folder: Path) -> str:
    """A folder, to be PATH, with the few programs that Snakemake itself asks for."""
    folder.mkdir()
    for program in ("bash", "which"):
        (folder / program).symlink_to(str(shutil.which(program)))
    return str(folder)


def test_the_profile_without_sbatch_stops_with_a_sentence(tmp_path: Path) -> None:
    project = copy(tmp_path / "copy")
    command = project.command("--workflow-profile", "profiles/slurm", "data/normalised/wine.json")
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
    environment.check("local", None)
    with pytest.raises(InputError, match="no sbatch on PATH"):
        environment.check("slurm", SimpleNamespace())


def programs(folder: Path, accounting: bool, config: str) -> str:
    """A folder, to be PATH, with a SLURM that has or has not accounting."""
    for name, lines in {
        "sbatch": "",
        "sacct": "" if accounting else "echo Slurm accounting storage is disabled >&2; exit 1",
        "scontrol": f"echo '{config}'",
    }.items():
        (folder / name).write_text(f"#!/bin/sh\n{lines}\n")
        (folder / name).chmod(0o755)
    return str(folder)


@pytest.mark.parametrize(
    ("accounting", "config", "asked"),
    [
        (True, "MinJobAge = 2 sec", "sacct"),
        (False, "MinJobAge = 300 sec", "squeue"),
        (False, "MinJobAge = 120 sec", r"slurm.conf: 120\); expected accounting, or 240 s or more"),
        (False, "", "MinJobAge in slurm.conf: None"),
    ],
)
def test_without_accounting_squeue_is_asked_where_it_remembers_jobs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, accounting: bool, config: str, asked: str
) -> None:
    """The plugin would wait for good for a job that nothing reports on."""
    monkeypatch.setenv("PATH", programs(tmp_path, accounting, config))
    settings = ExecutorSettings(status_command="sacct", init_seconds_before_status_checks=20)
    with pytest.raises(InputError, match=asked) if " " in asked else contextlib.nullcontext():
        environment.check("slurm", settings)
    assert settings.status_command == (asked if " " not in asked else "sacct")


def test_sacct_that_is_not_installed_is_as_no_accounting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", programs(tmp_path, False, "MinJobAge = 300 sec"))
    (tmp_path / "sacct").unlink()
    settings = ExecutorSettings(status_command="sacct", init_seconds_before_status_checks=20)
    environment.check("slurm", settings)
    assert settings.status_command == "squeue"


def test_nobody_who_has_not_asked_gets_a_slurm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CUTLAYER_INSTALL_SLURM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))  # an attempt would find no program
    with pytest.raises(Unavailable, match="for who asks: CUTLAYER_INSTALL_SLURM=1"), installed():
        pass
