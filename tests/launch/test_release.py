"""A release: what does not agree is said, and the wheel is that of the commit and works alone."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import release
from cutlayer.core.errors import InputError

ROOT = Path(__file__).parents[2]
TEXTS = {
    "pyproject.toml": '[project]\nname = "cutlayer"\nversion = "1.2.3"\n',
    "CITATION.cff": "version: 1.2.3\n",
    "CHANGELOG.md": "## [1.2.3] - 2030-12-31\n",
    ".gitignore": "results\n",
    "results/site/index.html": "",
}


def git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=n", "-c", "user.email=e")
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


def write(root: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, TEXTS)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "all")
    return tmp_path


def said(root: Path) -> list[str]:
    return [*map(str, release.problems(root))]


def test_nothing_is_said_where_all_agrees(root: Path) -> None:
    assert said(root) == []


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("CITATION.cff", "version: 1.2.4\n", "release.version: pyproject.toml has 1.2.3, CITATION.cff 1.2.4; "),
        ("CHANGELOG.md", "## [Unreleased]\n", "release.changelog: CHANGELOG.md has no heading of version 1.2.3 "),
        ("CHANGELOG.md", "## [1.2.3]\n", "release.changelog: CHANGELOG.md has no heading of version 1.2.3 "),
    ],
)
def test_what_does_not_agree_is_said(root: Path, file: str, text: str, sentence: str) -> None:
    write(root, {file: text})
    git(root, "commit", "--all", "--quiet", "--message", "more")
    (found,) = said(root)
    assert found.startswith(sentence)


def test_all_that_is_wrong_is_said_at_once(root: Path) -> None:
    write(root, {"CITATION.cff": "version: 1.2.4\n"})
    (root / "results/site/index.html").unlink()
    assert [line.split(":")[0] for line in said(root)] == ["release.tree", "release.version", "release.site"]


def test_a_wheel_that_lacks_what_it_imports_is_refused(root: Path, tmp_path: Path) -> None:
    build = '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
    packages = '[tool.setuptools]\npackages = ["cutlayer"]\n'
    write(root, {"pyproject.toml": f"{build}{TEXTS['pyproject.toml']}{packages}", "cutlayer/__init__.py": ""})
    write(root, {"cutlayer/a.py": "from . import left_out\n"})
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "more")
    with pytest.raises(InputError, match="left_out"):
        release.wheel(root, tmp_path)


def test_the_wheel_of_the_library_imports_without_the_checkout(tmp_path: Path) -> None:
    assert release.wheel(ROOT, tmp_path).name.startswith("cutlayer-")
