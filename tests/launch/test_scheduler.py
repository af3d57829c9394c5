"""A file's tests run in one process; those of workflows begin, those of SLURM come last."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEST = """
import os
from pathlib import Path

import pytest

@pytest.mark.parametrize("time", range(3))
def test_process(time):
    with Path({folder!r}, "order").open("a") as order:
        print("{name}", os.environ["PYTEST_XDIST_WORKER"], file=order)
"""


def test_a_file_has_one_process_workflows_begin_and_slurm_comes_last(tmp_path):
    names = [f"{kind}{index}" for kind in ("slurm", "theory", "workflow") for index in range(3)]
    for name in names:
        file = tmp_path / "tests" / name[:-1] / f"test_{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(TEST.format(folder=str(tmp_path), name=name))
    shutil.copy(ROOT / "tests/conftest.py", tmp_path / "tests")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    inner = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--numprocesses", "2", "tests"]
    subprocess.run(command, cwd=tmp_path, env=inner, check=True, stdout=subprocess.DEVNULL)
    ran = [line.split() for line in (tmp_path / "order").read_text().splitlines()]
    assert sorted(name for name, _ in ran) == sorted(3 * names)
    assert len({(name, process) for name, process in ran}) == len(names)
    assert len({process for _, process in ran}) == 2
    for one in {process for _, process in ran}:
        kinds = [name[:-1] for name, process in ran if process == one]
        assert kinds == sorted(kinds, key=["workflow", "theory", "slurm"].index)
