"""A release: each thing that does not agree is told, and a zip is always the same."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
import yaml

from cutlayer.core.artifacts import write_rows
from cutlayer.core.errors import InputError
from cutlayer.ledger import signal
from cutlayer.plan.plan import Plan
from cutlayer.reference import published, reasons
from release import changes, checks, git, same, site_zip

ROOT = Path(__file__).parents[2]
PAPER = "workflow/papers/p/paper.yaml"
# DVC is slow, and has a test of its own; here no verdict follows from cells.
CHECKS = [check for check in checks.CHECKS if check not in (checks.recorded, checks.verdicts)]
CONFIG = {
    "scale": "quick",
    "papers": ["p"],
    "scales": {"quick": {"printed_numbers": False}, "reference": {"seeds": 5}, "paper": {"seeds": 5}},
}
MORE = {"setup": {"model": {"epochs": 4}}}
RUN = {
    "makes": ["utility.csv", "truth"],
    "reads": ["wine.json"],
    "with": {"setup": {"model": {"epochs": 3}}, "seeds": [0]},
}
PLANNED = {"jobs": [RUN], "code": {"mean.py": "1f"}}
EXHIBIT = {
    "title": "A table",
    "caption": "What it shows.",
    "shows": "mse of half on wine along d from scores",
    "draw": {"use": "table"},
}
TEXTS = {
    "pyproject.toml": '[project]\nname = "cutlayer"\nversion = "1.2.3"\n',
    "CITATION.cff": "version: 1.2.3\n",
    "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2030-12-31\n",
    "README.md": "![a](docs/t.png) ![b](docs/drawn.png)\n",
    "docs/drawn.png": "drawn",
    "docs/drawn.py": "",
    "params.yaml": yaml.safe_dump(CONFIG),
    PAPER: yaml.safe_dump({"title": "P", "exhibits": {"t": EXHIBIT}}),
    "workflow/papers/p/published.csv": "value\n",
    ".gitignore": "results\n",
}


def commit(root: Path) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    git.told(root, "add", "--all")
    git.told(root, *who, "commit", "--quiet", "--message", "all")
    return git.commit(root, "HEAD")


def write(root: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def published_run(root: Path, made_of: str, scale: str = "reference") -> None:
    """A reference run, and the docs and the site that show it."""
    names = published.files_of("p", "t", EXHIBIT)
    write(root, {f"reference/{name}": name for name in [*names, "ledger.md"]})
    write_rows(root / "reference/runs.csv", [{"paper": "p", "scale": scale, "commit": made_of}])
    write(root, {"docs/t.png": "exhibits/p/t.png"})
    write(root, {"results/site/index.html": "", "results/site/reference/p.html": f"Commit {made_of}, 2030."})
    write(root, {"results/claims.csv": "setup,why\nwine,the attack half is not surely better than chance\n"})


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("release")
    git.told(root, "init", "--quiet")
    write(root, TEXTS)
    published_run(root, commit(root))
    commit(root)
    return root


@pytest.fixture
def root(once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout in which all agrees."""
    monkeypatch.setattr(checks, "CHECKS", CHECKS)
    monkeypatch.setattr(changes, "at", lambda *_: PLANNED)
    return Path(shutil.copytree(once, tmp_path / "root"))


def said(root: Path) -> list[str]:
    return [*map(str, checks.problems(root))]


def changed(root: Path, file: str, before: str, after: str) -> None:
    text = (root / file).read_text()
    assert before in text
    (root / file).write_text(text.replace(before, after))


def test_nothing_is_said_where_all_agrees(root: Path) -> None:
    assert said(root) == []
    assert checks.version(root) == "1.2.3"


CASES = [
    ("CITATION.cff", "1.2.3", "1.2.4", "release.version: pyproject.toml has 1.2.3, CITATION.cff 1.2.4; the same is"),
    ("CHANGELOG.md", "2030-12-31", "soon", "release.changelog: CHANGELOG.md has not one heading of version 1.2.3 "),
    ("CHANGELOG.md", "[1.2.3]", "[1.2.2]", "release.changelog: CHANGELOG.md has not one heading of version 1.2.3 "),
    ("params.yaml", "- p", "- p\n- q", "release.papers: reference/ has no q; all of params.yaml are meant"),
    ("reference/runs.csv", "reference", "quick", "release.scale: that of reference/, quick, judges no printed"),
    ("reference/runs.csv", "reference", "large", "release.scale: that of reference/, large, is none of params.yaml; a"),
    ("docs/t.png", "exhibits", "other", "release.docs: docs/t.png: not as in reference/; `make docs` copies them"),
    ("README.md", "docs/drawn", "docs/gone", "release.docs: there is no docs/gone.png, which a page shows; a"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "before", "after", "sentence"), CASES)
def test_what_does_not_agree_is_told(root: Path, file: str, before: str, after: str, sentence: str) -> None:
    changed(root, file, before, after)
    commit(root)
    assert sentence in "\n".join(said(root))


TODAY = [
    (PLANNED | {"code": {"mean.py": "2e"}}, "mean.py"),
    (PLANNED | {"code": {}}, "mean.py"),
    (PLANNED | {"jobs": [RUN | {"reads": []}]}, "utility.csv (what it is made from)"),
    (PLANNED | {"jobs": [RUN | {"with": MORE}]}, "utility.csv (setup.model.epochs, seeds)"),
    (PLANNED | {"jobs": [RUN | {"makes": ["utility.csv"]}]}, "utility.csv, utility.csv"),
    (PLANNED | {"jobs": [RUN, RUN | {"makes": ["scores.csv"]}]}, "scores.csv"),
    ({"jobs": [], "code": dict.fromkeys(map(str, range(9)), "")}, "mean.py, 0, 1, 2, 3 and 6 more"),
]  # fmt: skip


@pytest.mark.parametrize(("today", "told"), TODAY)
def test_a_run_that_would_do_something_else_is_told(
    root: Path, monkeypatch: pytest.MonkeyPatch, today: changes.Planned, told: str
) -> None:
    monkeypatch.setattr(changes, "at", lambda _, revision, *papers: today if revision == "HEAD" else PLANNED)
    (sentence,) = said(root)
    assert sentence.startswith("release.code: since commit ")
    assert sentence.endswith(f" changed {told}; a run of this code is meant, for numbers may depend on it")


def test_all_problems_are_told_together(root: Path) -> None:
    changed(root, "CITATION.cff", "1.2.3", "1.0")
    shutil.rmtree(root / "results")
    (root / "reference/exhibits/p/t.csv").unlink()
    assert [text.partition(":")[0] for text in said(root)] == [
        "release.tree", "release.version", "release.exhibits", "release.claims", "release.site",
    ]  # fmt: skip


def test_a_tag_on_another_commit(root: Path) -> None:
    git.told(root, "tag", "v1.2.3")
    assert said(root) == []
    write(root, {"notes.txt": "a"})
    commit(root)
    assert said(root)[0].startswith("release.tag: v1.2.3 is on another commit")


def test_no_reference_run(root: Path) -> None:
    shutil.rmtree(root / "reference")
    commit(root)
    told = "release.reference: there is no reference run; `make publish` after one at a larger scale"
    assert said(root) == [told]


def test_a_reference_of_another_history(root: Path) -> None:
    published_run(root, "a" * 40)
    commit(root)
    told = f"release.commit: commit {'a' * 12}, of p in reference/, is not one before this one; a run of this history"
    assert said(root) == [f"{told} is meant"]


def test_a_site_without_this_reference_run(root: Path) -> None:
    write(root, {"results/site/reference/p.html": "Commit of another run"})
    assert said(root) == [
        "release.site: results/site does not show the reference run of p; `make results` after `make publish` does"
    ]


def test_a_model_that_learned_nothing_is_told(root: Path) -> None:
    guesses = {"defense": "none", "setting": "", "attack": "", "metric": "auc", "value": [0.49, 0.52], "chance": 0.5}
    why = signal._no_better(pd.DataFrame(guesses | {"error": 0.02}))
    write_rows(root / "results/claims.csv", [{"setup": "wine", "why": why}])
    told = "the model is not surely better than chance on wine; more rows or steps in params.yaml are meant"
    assert said(root) == [f"release.signal: {told}"]
    (root / "results/claims.csv").unlink()
    assert said(root) == ["release.claims: there is no results/claims.csv; `make results` writes it"]


def test_results_are_those_that_dvc_recorded(tmp_path: Path) -> None:
    def dvc(*arguments: str) -> None:
        subprocess.run([checks.sys.executable, "-m", "dvc", *arguments], cwd=tmp_path, check=True, capture_output=True)

    write(tmp_path, {"a": "1", "dvc.yaml": "stages: {b: {cmd: cp a b, deps: [a], outs: [b]}}"})
    dvc("init", "--no-scm", "--quiet")
    dvc("repro", "--quiet")
    assert not [*checks.recorded(tmp_path)]
    write(tmp_path, {"a": "2"})
    (problem,) = checks.recorded(tmp_path)
    assert str(problem).startswith("release.dvc: the results are not what dvc.lock records for this code; ")


def test_why_dvc_cannot_tell_is_said(tmp_path: Path) -> None:
    write(tmp_path, {"dvc.yaml": "stages: {}", ".dvc/config": ""})
    (problem,) = checks.recorded(tmp_path)
    assert "is not a git repository; a git checkout" in str(problem)


def test_the_zip_is_the_same_whenever_it_is_made(tmp_path: Path) -> None:
    write(tmp_path, {f"site/{name}": name * 100 for name in ("index.html", "docs/a.png", "b.html")})
    first = site_zip.write(tmp_path / "site", tmp_path / "1/site-1.zip").read_bytes()
    (tmp_path / "site").rename(tmp_path / "old")
    write(tmp_path, {f"site/{name}": name * 100 for name in ("b.html", "docs/a.png", "index.html")})
    os.utime(tmp_path / "site/b.html", (2e9, 2e9))
    second = site_zip.write(tmp_path / "site", tmp_path / "2/site-1.zip")
    assert second.read_bytes() == first
    shutil.unpack_archive(second, tmp_path / "unpacked")
    assert (tmp_path / "unpacked/site-1/docs/a.png").read_text() == "docs/a.png" * 100


def test_verdicts_that_todays_rules_do_not_give_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(plan: Plan, folder: Path) -> None:
        raise InputError("reference.claims", f"{folder.name} of scale {plan.scale}", reasons.MEANT)

    monkeypatch.setattr(reasons, "renewed", refused)
    monkeypatch.setattr(checks, "CHECKS", [checks.verdicts])
    assert said(ROOT) == [f"reference.claims: reference of scale reference; {reasons.MEANT}"]


CODE, NEW = "workflow/mean.py", "workflow/new.py"
CELLS = "metric,value\nmse,{}\nseconds_per_step,{}\n"


@pytest.fixture
def moved(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout in which one file of code is not what it was when the reference was run, and one is new."""
    write(root, {".gitignore": "results\ndata\n", "data/raw/wine/wine.csv": "wine", CODE: "2"})
    published_run(root, commit(root))
    write(root, {CODE: "2.0", NEW: ""})
    commit(root)
    planned = PLANNED | {"code": {CODE: "", NEW: ""}}
    monkeypatch.setattr(changes, "at", lambda _, revision, *papers: planned if revision == "HEAD" else PLANNED)
    monkeypatch.setattr(changes, "code", lambda *_: [CODE, NEW])
    monkeypatch.setattr(same, "WHOLE", ("workflow", "params.yaml"))
    return root


class Ran:
    """In place of Snakemake: the number that is in the code, and a time that differs each time."""

    def __init__(self) -> None:
        self.codes: list[tuple[str, bool]] = []  # what is in the first file, and whether the second is there

    def __call__(self, folder: Path) -> None:
        assert (folder / "data/raw/wine/wine.csv").read_text() == "wine"
        text = (folder / CODE).read_text()
        self.codes.append((text, (folder / NEW).exists()))
        write(folder, {"results/cells/p/t.csv": CELLS.format(float(text), len(self.codes))})


def test_code_that_gives_the_same_numbers_is_that_of_the_reference(
    moved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, now, reference = Ran(), git.commit(moved, "HEAD"), published.runs(moved / published.FOLDER)["p"]["commit"]
    assert any("release.code" in text for text in said(moved))
    (told,) = same.main(moved, run)
    assert told == f"{reference[:12]}: 1 numbers are the same, with 2 files of code that differ"
    assert run.codes == [("2.0", True), ("2", False)]
    commit(moved)
    assert changes.proven(moved, reference) == now
    moved_on = PLANNED | {"code": {"mean.py": "2e"}}
    monkeypatch.setattr(changes, "at", lambda _, revision, *papers: PLANNED if revision == reference else moved_on)
    assert changes.since(moved, reference, "reference", ["p"]) == []


def test_code_that_gives_other_numbers_is_not(moved: Path) -> None:
    write(moved, {CODE: "3"})
    commit(moved)
    with pytest.raises(InputError, match=r"^release\.same: results/cells/p/t\.csv differ from those with the code of "):
        same.main(moved, Ran())
    assert not (moved / changes.SAME).exists()


def test_what_is_not_committed_cannot_be_the_same(moved: Path) -> None:
    write(moved, {CODE: "4"})
    with pytest.raises(InputError, match=r"^release\.tree: has uncommitted changes"):
        same.main(moved, Ran())


def test_a_note_about_another_history_counts_for_nothing(moved: Path) -> None:
    write_rows(moved / changes.SAME, [{"commit": "b" * 40, "same": "a" * 40}])
    assert not changes.proven(moved, "b" * 40)
    assert not changes.proven(moved, "c" * 40)
