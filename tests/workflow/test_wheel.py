"""The wheel of a release: it works where nothing of the checkout is, with what it asks for and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cutlayer.core.errors import InputError
from release import checks, git, wheel

from .conftest import ROOT


def commit(root: Path) -> None:
    who = ["-c", "user.name=tests", "-c", "user.email=tests@localhost", "-c", "commit.gpgsign=false"]
    git.told(root, "add", "--all")
    git.told(root, *who, "commit", "--quiet", "--message", "all")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What the wheel is built of, committed."""
    root = tmp_path / "copy"
    for name in wheel.NEEDED:
        source, target = ROOT / name, root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    git.told(root, "init", "--quiet")
    commit(root)
    return root


def test_it_works_where_nothing_of_the_checkout_is(copy: Path, tmp_path: Path) -> None:
    for left in ("workflow/cutlayer/not_committed.py", "build/lib/cutlayer/left.py"):
        (copy / left).parent.mkdir(parents=True, exist_ok=True)
        (copy / left).touch()
    made = wheel.build(copy, tmp_path)
    wheel.check(made, checks.version(copy))
    with pytest.raises(InputError, match=r"^release\.fresh: (.|\n)*its version is"):
        wheel.check(made, "0")


def test_a_package_that_it_forgets_to_ask_for_is_missing_though_it_is_installed_here(
    copy: Path, tmp_path: Path
) -> None:
    project = copy / "pyproject.toml"
    project.write_text(project.read_text().replace(', "tqdm"', ""))
    commit(copy)
    with pytest.raises(InputError, match="No module named 'tqdm'"):
        wheel.check(wheel.build(copy, tmp_path), checks.version(copy))
