"""A file's tests run in one process, those of workflows where there is room, those of SLURM after them in one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

CONFTEST = Path(__file__).parents[1] / "conftest.py"
TEST = """
import os
from pathlib import Path

import pytest

@pytest.mark.parametrize("time", range(2))
def test_process(time):
    with Path({folder!r}, "order").open("a") as order:
        print("{name}", os.environ["PYTEST_XDIST_WORKER"], file=order)
"""


def test_files_and_slurm_s_tests_share_a_process_and_slurm_s_come_after_all_workflows(tmp_path):
    names = [f"{kind}{index}" for kind in ("dvc", "slurm", "workflow", "theory") for index in range(3)]
    for name in names:
        file = tmp_path / "tests" / name[:-1] / f"test_{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(TEST.format(folder=str(tmp_path), name=name))
    shutil.copy(CONFTEST, tmp_path / "tests")
    inner = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--numprocesses", "2", "tests"]
    subprocess.run(command, cwd=tmp_path, env=inner, check=True, stdout=subprocess.DEVNULL)
    ran = [line.split() for line in (tmp_path / "order").read_text().splitlines()]
    assert sorted(name for name, _ in ran) == sorted(2 * names)
    assert len({(name, process) for name, process in ran if name.startswith("theory")}) == 3
    alone = {process for name, process in ran if name.startswith("slurm")}
    assert len(alone) == 1
    assert len({process for _, process in ran}) == 2
    (own,) = ([name[:-1] for name, process in ran if process == one] for one in alone)
    first = own.index("slurm")
    assert own[first : first + 6] == ["slurm"] * 6
    assert not {"dvc", "workflow"} & {*own[first:]}
    assert "theory" not in own[:first]
