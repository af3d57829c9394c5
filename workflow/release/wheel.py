"""The library as a wheel, and whether it works where nothing of this checkout is.

It is built of the last commit, not of the folder: what earlier builds left in build/ would be in it, too. It has
`cutlayer` alone. `launch` starts the jobs of the Snakefile and is of no use without it, as are the papers.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from cutlayer.core.errors import InputError
from cutlayer.plan import plugins

from . import git

LIBRARY, NAME = "workflow/cutlayer", "cutlayer"
NEEDED = ("pyproject.toml", "README.md", "LICENSE", LIBRARY)
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
FRESH = Path(__file__).with_name("fresh.py")


def build(root: Path, folder: Path) -> Path:
    """Build the wheel of the last commit into a folder; the same commit gives the same bytes."""
    seconds = git.told(root, "show", "--no-patch", "--format=%ct", "HEAD").strip()
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "source"
        with tarfile.open(fileobj=io.BytesIO(git.archive(root, *NEEDED))) as tree:
            tree.extractall(source, filter="data")
        options = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--wheel-dir", f"{name}/made")
        _done([*PIP, "wheel", *options, str(source)], "release.wheel", {"SOURCE_DATE_EPOCH": seconds})
        (made,) = Path(name).glob("made/*.whl")
        _check_files(made, source / LIBRARY)
        return Path(shutil.copy(made, folder / made.name))


def check(file: Path, version: str) -> None:
    """Raise unless a fresh environment that has the wheel, and else only its dependencies, can use the library."""
    expected = {"version": version, "plugins": {kind: plugins.names(kind) for kind in plugins.KINDS}}
    with tempfile.TemporaryDirectory() as name:
        environment = _environment(Path(name) / "fresh", file)
        command = [str(environment), "-I", str(FRESH), json.dumps(expected)]
        _done(command, "release.fresh", {})


def _environment(folder: Path, file: Path) -> Path:
    """The Python of a new environment with the wheel."""
    venv.create(folder, symlinks=True)
    python = folder / "bin/python"
    install = ("install", "--no-deps", "--no-index", "--quiet", str(file.resolve()))
    _done([*PIP, "--python", str(python), *install], "release.fresh", {})
    (packages,) = folder.glob("lib/python*/site-packages")
    (own,) = (found for found in distributions(path=[str(packages)]) if found.name == NAME)
    _link(packages, own)
    return python


def _link(packages: Path, own: Distribution) -> None:
    """Put what a distribution asks for beside it, as links: pip would fetch gigabytes.

    The checkout's own library is not among them, nor a package that the wheel forgets to ask for.
    """
    for needed in _needed(own):
        for part in {file.parts[0] for file in needed.files or ()} - {"..", "__pycache__"}:
            link = packages / part
            if not part.endswith(".pth") and not link.exists():
                link.symlink_to(Path(str(needed.locate_file(part))))


def _needed(own: Distribution) -> Iterator[Distribution]:
    """What pip would install beside a distribution: what it asks for, what these ask for, and so on."""
    todo, seen = [*_asked(own)], set[str]()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            found = distribution(name)
        except PackageNotFoundError:
            raise InputError(
                "release.fresh", f"the wheel asks for {name}", "this environment does not have it"
            ) from None
        todo += _asked(found)
        yield found


def _asked(own: Distribution) -> Iterator[str]:
    for requirement in map(Requirement, own.requires or ()):
        if not requirement.marker or requirement.marker.evaluate({"extra": ""}):
            yield canonicalize_name(requirement.name)


def _check_files(file: Path, library: Path) -> None:
    """Raise unless the wheel has each file of the library and nothing else but what describes it."""
    with zipfile.ZipFile(file) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    meant = {f"{library.name}/{path.relative_to(library).as_posix()}" for path in library.rglob("*") if path.is_file()}
    for wrong, names in (("lacks", meant - packed), ("has also", packed - meant)):
        if names:
            said = f"{file.name} {wrong} {', '.join(sorted(names))}"
            raise InputError("release.wheel", said, f"the files of {LIBRARY} are meant, see pyproject.toml")


def _done(command: list[str], where: str, more: dict[str, str]) -> None:
    """Run a command far from the checkout; raise with the end of what it says if it fails."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | more
    done = subprocess.run(
        command, cwd=tempfile.gettempdir(), env=environment, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode:
        raise InputError(where, (done.stderr.strip() or done.stdout.strip())[-2000:], "a wheel that works is meant")
