"""What must agree before a release: tree, version, reference run, DVC, docs and site. All that is wrong is told."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pandas as pd
import yaml

from cutlayer.core import yamls
from cutlayer.core.errors import InputError
from cutlayer.ledger import signal
from cutlayer.plan import families
from cutlayer.plan.params_model import Scale
from cutlayer.reference import published, reasons

from . import changes, git

SITE, CLAIMS = Path("results/site"), Path("results/claims.csv")
DOCS = Path("docs")
TOLD = 5  # files that a sentence names
PICTURE = re.compile(r"!\[[^]]*\]\(([^)\s]+)\)")
Found = Iterator[InputError]


def problems(root: Path) -> list[InputError]:
    """All that is wrong in a checkout."""
    found: list[InputError] = []
    for check in CHECKS:
        try:
            for problem in check(root):
                found.append(problem)  # one by one: those before an error count, too
        except InputError as error:
            found.append(error)
    return found


def version(root: Path) -> str:
    """The version that the library will have."""
    return str(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def tree(root: Path) -> Found:
    """Nothing is uncommitted."""
    changed = [line[3:] for line in git.told(root, "status", "--porcelain").splitlines()]
    if changed:
        yield InputError("release.tree", f"has uncommitted changes ({few(changed)})", "commit or remove them")


def versions(root: Path) -> Found:
    """The version is the same in all places, and the changelog says when it was made."""
    own = version(root)
    cited = str(yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))["version"])
    if own != cited:
        yield InputError("release.version", f"pyproject.toml has {own}, CITATION.cff {cited}", "the same is meant")
    headings = re.findall(
        r"^## \[?([^]\s]+)\]?(?: - (\S+))?\s*$", (root / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.M
    )
    dates = [day for name, day in headings if name == own]
    if len(dates) != 1 or not _is_date(dates[0]):
        wrong = f"CHANGELOG.md has not one heading of version {own} with a date"
        yield InputError("release.changelog", wrong, f"`## [{own}] - {date.today()}` is meant")


def tag(root: Path) -> Found:
    """The version was not released before."""
    name = f"v{version(root)}"
    tagged = git.commit(root, f"refs/tags/{name}")
    if tagged and tagged != git.commit(root, "HEAD"):
        yield InputError("release.tag", f"{name} is on another commit ({tagged[:12]})", "give this one a new version")


def reference(root: Path) -> Found:
    """The reference run is there, of all papers and whole, at one scale that judges all numbers."""
    folder = root / published.FOLDER
    runs, config = published.runs(folder), yamls.read(root / "params.yaml")
    if not runs:
        raise InputError("release.reference", "there is no reference run", "`make publish` after one at a larger scale")
    scales = list(dict.fromkeys(made["scale"] for made in runs.values()))
    if len(scales) > 1:
        yield InputError("release.scale", f"reference/ is of scales {' and '.join(scales)}", "one is meant")
    for scale in scales:
        known = config["scales"].get(scale)
        if known is None or not known.get("printed_numbers", Scale.model_fields["printed_numbers"].default):
            wrong = "judges no printed numbers" if known else "is none of params.yaml"
            yield InputError("release.scale", f"that of reference/, {scale}, {wrong}", "a larger one is meant")
    lacking = [paper for paper in config["papers"] if paper not in runs]
    if lacking:
        yield InputError("release.papers", f"reference/ has no {', '.join(lacking)}", "all of params.yaml are meant")
    missing = [file for paper in config["papers"] if paper in runs for file in _missing(root, paper)]
    if missing:
        yield InputError("release.exhibits", f"reference/ has no {few(missing)}", "`make publish` writes them")


def code(root: Path) -> Found:
    """The reference run is of this code, as far as its numbers depend on it."""
    papers: dict[tuple[str, str], list[str]] = {}
    for paper, made in published.runs(root / published.FOLDER).items():
        papers.setdefault((made["commit"], made["scale"]), []).append(paper)
    for (commit, scale), names in papers.items():
        of = f"{', '.join(names)} in reference/"
        if not git.holds(root, "merge-base", "--is-ancestor", commit, "HEAD"):
            wrong = f"commit {commit[:12]}, of {of}, is not one before this one"
            yield InputError("release.commit", wrong, "a run of this history is meant")
            continue
        changed = changes.since(root, commit, scale, names)
        if changed:
            wrong = f"since commit {commit[:12]}, of {of}, changed {few(changed)}"
            yield InputError("release.code", wrong, "a run of this code is meant, for numbers may depend on it")


def verdicts(root: Path) -> Found:
    """Today's rules, printed numbers and published sizes give the verdicts of the reference run."""
    folder = root / published.FOLDER
    if published.runs(folder):
        reasons.renewed(reasons.of_reference(root), folder)
    yield from ()


def recorded(root: Path) -> Found:
    """Results are what dvc.lock says this code makes, as `make settle` looks."""
    status = _dvc_status(root, "--quiet").returncode
    if status == 1:
        wrong = "the results are not what dvc.lock records for this code"
        yield InputError("release.dvc", wrong, "see `dvc status`; `make record` makes them")
    elif status:
        wrong = _dvc_status(root).stderr.strip().removeprefix("ERROR: ")
        yield InputError("release.dvc", wrong, "a git checkout in which `dvc status` works expected")


def _dvc_status(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dvc", "status", *arguments, "dvc.yaml"]
    return subprocess.run(command, cwd=root, capture_output=True, encoding="utf-8", check=False)


def signals(root: Path) -> Found:
    """At the scale that everyone sees first every model has learned something: else nothing on its data is judged."""
    if not (root / CLAIMS).is_file():
        raise InputError("release.claims", f"there is no {CLAIMS}", "`make results` writes it")
    rows = pd.read_csv(root / CLAIMS, dtype=str, keep_default_na=False)
    untrained = rows.loc[rows["why"].str.startswith(f"{signal.MODEL} {signal.NO_BETTER}"), "setup"]
    if not untrained.empty:
        wrong = f"{signal.MODEL} {signal.NO_BETTER} on {', '.join(untrained.unique())}"
        yield InputError("release.signal", wrong, "more rows or steps in params.yaml are meant")


def docs(root: Path) -> Found:
    """Pictures in docs/ are the reference's; those that a script beside them draws are not results."""
    folder = root / published.FOLDER
    if not published.runs(folder):
        return
    shown = dict.fromkeys(picture for page in _pages(root) for picture in _pictures(root, page))
    gone = [str(file) for file in shown if not (root / file).is_file()]
    if gone:
        yield InputError("release.docs", f"there is no {few(gone)}, which a page shows", "a picture is meant")
    drawn = [file for file in shown if file.parent == DOCS and not (root / file).with_suffix(".py").exists()]
    others = [str(file) for file in drawn if (root / file).is_file() and not _is_reference(root / file, folder)]
    if others:
        yield InputError("release.docs", f"{', '.join(others)}: not as in reference/", "`make docs` copies them")


def site(root: Path) -> Found:
    """The site is there, and shows this reference run."""
    if not (root / SITE / "index.html").is_file():
        raise InputError("release.site", f"there is no {SITE}/index.html", "`make results` writes it")
    lacking = [
        paper
        for paper, made in published.runs(root / published.FOLDER).items()
        if made["commit"] not in _text(root / SITE / published.FOLDER / f"{paper}.html")
    ]
    if lacking:
        wrong = f"{SITE} does not show the reference run of {', '.join(lacking)}"
        yield InputError("release.site", wrong, "`make results` after `make publish` does")


CHECKS: tuple[Callable[[Path], Found], ...] = (
    tree,
    versions,
    tag,
    reference,
    code,
    verdicts,
    recorded,
    signals,
    docs,
    site,
)


def few(names: list[str]) -> str:
    """The first of some names, and how many more there are."""
    more = len(names) - TOLD
    return ", ".join(names[:TOLD]) + (f" and {more} more" if more > 0 else "")


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _missing(root: Path, paper: str) -> Iterator[str]:
    """The files of a paper's exhibits that reference/ lacks."""
    folder = root / "workflow/papers" / paper
    for name, exhibit in families.read(folder, f"papers/{paper}/paper.yaml")["exhibits"].items():
        for file in published.files_of(paper, name, exhibit):
            if not (root / published.FOLDER / file).is_file():
                yield file


def _pages(root: Path) -> list[Path]:
    return [root / "README.md", *sorted((root / DOCS).rglob("*.md"))]


def _pictures(root: Path, page: Path) -> Iterator[Path]:
    """The pictures that a page shows, as they lie in the checkout."""
    for link in PICTURE.findall(page.read_text(encoding="utf-8")):
        if "://" not in link:
            yield (page.parent / link).resolve().relative_to(root.resolve())


def _is_reference(picture: Path, folder: Path) -> bool:
    """Whether it is one of the reference's pictures of that name; several papers have a figure 4."""
    same = (folder / "exhibits").glob(f"*/{picture.name}")
    return any(picture.read_bytes() == file.read_bytes() for file in same)


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.is_file() else ""
