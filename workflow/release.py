"""`make release`: what must agree before a release, then dist/: wheel, site, crate, transcripts, checksums of all.

The tree is committed, the version is the same wherever it stands, the changelog has it with a date, and the wheel of
this commit imports without the checkout. What the arena's runs showed and the truth about it are archives apart: both,
unpacked into one folder, are what `make try TRANSCRIPTS=folder` judges an attack on.
"""

from __future__ import annotations

import csv
import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile

import yaml

import crate
from cutlayer.core import yamls
from cutlayer.core.errors import InputError, few
from cutlayer.plan.plan import Plan
from cutlayer.stages import released

DIST, SITE = Path("dist"), Path("results/site")
CELLS = Path("results/cells/arena/labels.csv")  # says at which scale the arena ran
LOADER, SUMS = "workflow/load.py", "SHA256SUMS"
IMPORTS_ALL = """
import importlib, pathlib, sys
import cutlayer
for file in sorted(pathlib.Path(cutlayer.__path__[0]).rglob("*.py")):
    if file.stem != "__main__":
        importlib.import_module(".".join(file.relative_to(sys.path[0]).with_suffix("").parts))
"""


def problems(root: Path) -> Iterator[InputError]:
    """All that does not agree in a checkout."""
    changed = [line[3:] for line in _run(["git", "status", "--porcelain"], root, "release.tree").splitlines()]
    if changed:
        yield InputError("release.tree", f"has uncommitted changes ({', '.join(changed[:5])})", "commit or remove them")
    version = version_of(root)
    cited = str(yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))["version"])
    if cited != version:
        yield InputError("release.version", f"pyproject.toml has {version}, CITATION.cff {cited}", "expected the same")
    heading = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$"
    if not re.search(heading, (root / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.M):
        wrong = f"CHANGELOG.md has no heading of version {version} with a date"
        yield InputError("release.changelog", wrong, f"expected `## [{version}] - YYYY-MM-DD`")
    if not (root / SITE / "index.html").is_file():
        yield InputError("release.site", f"there is no {SITE}/index.html", "`make results` writes it")


def version_of(root: Path) -> str:
    """The version that the library will have."""
    return str(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def wheel(root: Path, folder: Path) -> Path:
    """Build the wheel of the last commit, not of what lies about in the folder, and import every module of it."""
    with TemporaryDirectory() as name:
        source, made, alone = (Path(name) / part for part in ("source", "made", "alone"))
        _run(["git", "worktree", "add", "--detach", str(source), "HEAD"], root, "release.wheel")
        try:
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
            offline = ["--no-deps", "--no-index"]
            build = [*pip, "wheel", *offline, "--no-build-isolation", f"--wheel-dir={made}", str(source)]
            _run(build, root, "release.wheel")
        finally:
            _run(["git", "worktree", "remove", "--force", str(source)], root, "release.wheel")
        (built,) = made.glob("*.whl")
        _run([*pip, "install", *offline, f"--target={alone}", str(built)], root, "release.wheel")
        code = f"import sys; sys.path.insert(0, {str(alone)!r})\n{IMPORTS_ALL}"
        _run([sys.executable, "-I", "-c", code], alone, "release.wheel")
        return Path(shutil.copy(built, folder))


def transcripts(root: Path, plan: Plan, folder: Path, version: str) -> list[Path]:
    """Pack what the arena's runs showed, with a loader, and apart from it what judges guesses about it.

    Raises:
        InputError: the last run lacks some of it, or is of another scale.

    """
    seen, truth = released.files(plan)
    if lacking := [file for file in (*seen, *truth) if not (root / file).is_file()]:
        raise InputError("release.transcripts", f"there is no {few(lacking)}", "`make results` writes them")
    with (root / CELLS).open(newline="", encoding="utf-8") as cells:
        scale = next(csv.DictReader(cells))["scale"]
    if scale != plan.scale:
        raise InputError("release.transcripts", f"results are of scale {scale}", f"expected {plan.scale}")
    parts = {
        "transcripts": {"load.py": LOADER} | {file: file for file in seen},
        "truth": {file: file for file in truth},
    }
    archives = []
    for name, files in parts.items():
        archives.append(folder / f"cutlayer-{name}-{version}.zip")
        with ZipFile(archives[-1], "w", ZIP_DEFLATED) as packed:
            for place, file in files.items():
                packed.write(root / file, place)
    return archives


def checksums(files: Iterable[Path]) -> str:
    """Lines as `sha256sum --check` reads them."""
    lines = []
    for path in sorted(files):
        with path.open("rb") as file:
            lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {path.name}\n")
    return "".join(lines)


def main(root: Path) -> None:
    """Say what does not agree; if nothing, write dist/ anew."""
    found = [*problems(root)]
    if found:
        sys.exit("\n".join(f"error: {problem}" for problem in found))
    shutil.rmtree(root / DIST, ignore_errors=True)
    (root / DIST).mkdir()
    version, plan = version_of(root), Plan(yamls.read(root / "params.yaml") | {"scale": released.SCALE})
    wheel(root, root / DIST)
    shutil.make_archive(str(root / DIST / f"cutlayer-site-{version}"), "zip", root / SITE)
    with TemporaryDirectory() as folder:
        crate.write(root, plan, version, Path(folder))
        shutil.make_archive(str(root / DIST / f"cutlayer-crate-{version}"), "zip", folder)
    transcripts(root, plan, root / DIST, version)
    (root / DIST / SUMS).write_text(checksums((root / DIST).iterdir()), encoding="utf-8")
    print(*sorted(file.name for file in (root / DIST).iterdir()), sep="\n")


def _run(command: list[str], folder: Path, where: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise InputError(where, (done.stderr.strip() or done.stdout.strip())[-2000:], f"expected {command[0]} to work")
    return done.stdout


if __name__ == "__main__":
    try:
        main(Path.cwd())
    except InputError as error:
        sys.exit(f"error: {error}")
