"""`make setup` from nothing: on other people's machines, with their pip, and with the public index alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from .conftest import LONG, ROOT, Project, set_up

# As a project's own build backend it makes a wheel of nothing but a module, so that no test needs a network.
BACKEND = """
import base64, hashlib, os, zipfile
def build_editable(folder, config_settings=None, metadata_directory=None):
    return write(folder, "own")
def write(folder, name, needs=""):
    info = f"{name}-1.dist-info"
    texts = {
        f"{name}.py": "",
        f"{info}/METADATA": f"Metadata-Version: 2.1\\nName: {name}\\nVersion: 1\\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\\nGenerator: tests\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    with zipfile.ZipFile(os.path.join(folder, file := f"{name}-1-py3-none-any.whl"), "w") as wheel:
        record = ""
        for path, text in texts.items():
            wheel.writestr(path, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(text)}\\n"
        wheel.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\\n")
    return file
"""
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "own"
version = "1"
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The Makefile, a project of one module, and a lock of one package that needs another: both lie beside it."""
    folder = tmp_path / "someone's checkout"
    folder.mkdir()
    shutil.copy(ROOT / "Makefile", folder)
    (folder / "backend.py").write_text(BACKEND)
    (folder / "pyproject.toml").write_text(PROJECT)
    wheels = "write('.', 'tiny', 'Requires-Dist: needed\\n'); write('.', 'needed')"
    subprocess.run([sys.executable, "-c", f"from backend import write; {wheels}"], cwd=folder, check=True)
    (folder / "requirements.lock").write_text("./tiny-1-py3-none-any.whl\n")
    return folder


def make(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    own = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
    own |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "."}
    own["PATH"] = os.pathsep.join([str(Path(sys.base_prefix) / "bin"), own["PATH"]])
    command = ["make", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=own | environment, text=True, capture_output=True, timeout=LONG, check=False
    )
    assert done.returncode == 0 or "Error" in done.stderr or "-q" in arguments, done.stderr
    return done


def test_settings_of_pip_do_not_send_packages_elsewhere(checkout: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    settings = {"user": "true", "target": elsewhere, "prefix": elsewhere, "root": elsewhere}
    (tmp_path / "pip.conf").write_text("[global]\n" + "".join(f"{key} = {value}\n" for key, value in settings.items()))
    flags = {"PIP_USER": "1", "PIP_NO_DEPS": "1", "PIP_DRY_RUN": "1", "PIP_REQUIRE_HASHES": "1"}
    done = make(checkout, "setup", PIP_CONFIG_FILE=str(tmp_path / "pip.conf"), PIP_TARGET=str(elsewhere), **flags)
    assert done.returncode == 0, done.stderr
    subprocess.run([checkout / ".venv/bin/python", "-I", "-c", "import tiny, needed, own"], check=True)
    assert not elsewhere.exists()
    assert make(checkout, "-q", "setup").returncode == 0, "a second setup has nothing to do"


def test_a_checkout_that_was_copied_or_moved_gets_an_environment_of_its_own(checkout: Path, tmp_path: Path) -> None:
    make(checkout, "setup")
    copied = tmp_path / "copied"
    shutil.copytree(checkout, copied, symlinks=True)
    assert make(copied, "-q", "setup").returncode == 1
    assert make(copied, "setup").returncode == 0
    assert str(copied) in (copied / ".venv/bin/pip").read_text().splitlines()[0]
    moved = checkout.rename(tmp_path / "moved")
    assert make(moved, "-q", "setup").returncode == 1


def test_make_runs_the_code_of_its_folder(project: Project) -> None:
    """Its environment is that of the tests, which names another checkout, and so does the caller's PYTHONPATH."""
    set_up(project)
    (project.folder / "workflow/cutlayer/data/verify.py").write_text("print('code of this folder')\n")
    assert "code of this folder" in make(project.folder, "verify", PYTHONPATH=str(ROOT / "workflow")).stdout


def test_an_old_python_is_refused_before_anything_is_installed(checkout: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    lines = "import sys; sys.version_info = (3, 10, 13, 'final', 0); "
    old.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{lines}$2"\n')
    old.chmod(0o755)
    done = make(checkout, "setup", f"PYTHON={old}")
    assert done.returncode == 2
    assert "is Python 3.10; expected 3.11 or newer" in done.stderr
    assert not (checkout / ".venv").exists()


def test_an_environment_of_another_python_is_made_anew(checkout: Path) -> None:
    make(checkout, "setup")
    left = checkout / ".venv/left"
    left.touch()
    ready = checkout / ".venv/ready"
    ready.write_text(re.sub(r"3\.\d+$", "3.10", ready.read_text()))
    assert make(checkout, "setup").returncode == 0
    assert not left.exists()
    assert ready.read_text() == f"{checkout}/.venv of Python {sys.version_info.major}.{sys.version_info.minor}\n"


# What of pip's settings does not say how the index is reached.
OWN = ("PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX", "PIP_CONSTRAINT", "PIP_NO_DEPS")


def pip(python: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call the pip of `folder` with an interpreter, without its user's configuration."""
    own = {key: value for key, value in os.environ.items() if key not in OWN}
    own |= {"PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "1", "PYTHONPATH": str(folder)}
    command = [python, "-m", "pip", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, env=own, text=True, capture_output=True, timeout=LONG, check=False)


def unmet(report: dict[str, Any]) -> list[str]:
    """What `pip check` would say of what would be installed."""
    packages = {canonicalize_name(item["metadata"]["name"]): item["metadata"] for item in report["install"]}
    found = []
    for name, metadata in packages.items():
        for needed in map(Requirement, metadata.get("requires_dist", [])):
            if needed.marker and not needed.marker.evaluate({**report["environment"], "extra": ""}):
                continue
            have = packages.get(canonicalize_name(needed.name))
            if not have or not needed.specifier.contains(have["version"], prereleases=True):
                found.append(f"{name} requires {needed}; {have and have['version']} would be installed")
    return found


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_the_lock_is_complete_on_the_public_index(version: str, tmp_path: Path) -> None:
    here = f"{sys.version_info.major}.{sys.version_info.minor}" == version
    python = sys.executable if here else f"python{version}"
    if not shutil.which(python) or subprocess.run([python, "-c", ""], check=False, capture_output=True).returncode:
        pytest.skip(f"there is no python{version}")
    new = tmp_path / "pip"  # older ones load whole packages, where their metadata would do
    if pip(sys.executable, new, "install", "--quiet", "--target", str(new), "pip>=24.2").returncode:
        pytest.skip("the index of packages cannot be reached")
    report = tmp_path / "report.json"
    options = ("--dry-run", "--quiet", "--ignore-installed", "--report", str(report))
    done = pip(python, new, "install", *options, "--requirement", str(ROOT / "requirements.lock"))
    assert done.returncode == 0, done.stderr
    found = json.loads(report.read_text())
    assert found["environment"]["python_version"] == version
    assert not unmet(found)
    pinned = {line.partition("==")[0] for line in (ROOT / "requirements.lock").read_text().splitlines()}
    installed = {canonicalize_name(item["metadata"]["name"]) for item in found["install"]}
    assert {*map(canonicalize_name, pinned)} <= installed


def test_a_lock_that_lacks_a_package_is_found() -> None:
    metadata = {
        "name": "Torch",
        "version": "2.13.0",
        "requires_dist": ["nccl==1; sys_platform == 'linux'", "x; extra == 'y'"],
    }
    report = {"environment": {"sys_platform": "linux"}, "install": [{"metadata": metadata}]}
    assert unmet(report) == ['torch requires nccl==1; sys_platform == "linux"; None would be installed']
    report["environment"]["sys_platform"] = "darwin"
    assert not unmet(report)
