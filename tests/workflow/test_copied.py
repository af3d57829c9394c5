"""A checkout that was copied or moved: make runs its own code, in an environment that is made anew."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .conftest import ROOT, Project, set_up


def make(folder: Path, environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        ["make", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_make_runs_the_code_of_its_folder_and_notices_that_it_was_moved(project: Project) -> None:
    """Its environment is that of the tests, which names another checkout, and so does the caller's PYTHONPATH."""
    set_up(project)
    (project.folder / "workflow/cutlayer/data/verify.py").write_text("print('code of this folder')\n")
    environment = project.environment | {"PYTHONPATH": str(ROOT / "workflow")}
    assert "code of this folder" in make(project.folder, environment, "verify")
    assert "rm -rf" not in make(project.folder, environment, "--dry-run", "verify")
    moved = project.folder.rename(project.folder.with_name("moved it's"))
    planned = make(moved, environment, "--dry-run", "verify").splitlines()
    (removed,) = (number for number, line in enumerate(planned) if line == "rm -rf .venv")
    (made,) = (number for number, line in enumerate(planned) if "-m venv" in line)
    assert removed < made
