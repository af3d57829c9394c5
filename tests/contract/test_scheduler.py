"""Tests that run workflows share one process, whatever the number of processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

CONFTEST = Path(__file__).parents[1] / "conftest.py"
TEST = """
import os, time
from pathlib import Path

def test_process():
    time.sleep(0.2)
    Path({folder!r}, {name!r}).write_text(os.environ["PYTEST_XDIST_WORKER"])
"""


def processes(folder: Path, names: list[str]) -> set[str]:
    return {(folder / name).read_text() for name in names}


def test_workflows_share_a_process_and_the_rest_does_not(tmp_path):
    names = [f"{kind}{index}" for kind in ("dvc", "slurm", "workflow", "theory") for index in range(3)]
    for name in names:
        file = tmp_path / "tests" / name[:-1] / f"test_{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(TEST.format(folder=str(tmp_path), name=name))
    shutil.copy(CONFTEST, tmp_path / "tests")
    inner = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--numprocesses", "2", "tests"]
    subprocess.run(command, cwd=tmp_path, env=inner, check=True, stdout=subprocess.DEVNULL)
    workflows = [name for name in names if not name.startswith("theory")]
    assert len(processes(tmp_path, workflows)) == 1
    assert len(processes(tmp_path, names)) == 2
