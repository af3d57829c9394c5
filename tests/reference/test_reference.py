"""The reference run: papers are published one by one and whole, at one scale; comparing finds what differs."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image
from tests.params import params

from cutlayer.core.artifacts import read_json, write_json
from cutlayer.core.errors import InputError
from cutlayer.ledger import cells
from cutlayer.ledger.cells import WHO
from cutlayer.ledger.claims import COLUMNS
from cutlayer.plan.plan import Plan
from cutlayer.reference import published
from cutlayer.reference.compare import compare
from cutlayer.reference.publish import commit_of, hours, publish

ROOT = Path(__file__).parents[2]
CONFIG = params()
FIRST, SECOND = "marvell", "chebyshev"  # the second comes before the first in params.yaml
SCALE = "reference"


def row(paper: str, item: str, ours: float, low: float, high: float, **more: object) -> dict:
    """A row of claims.csv."""
    made = dict.fromkeys(COLUMNS, "") | {"paper": paper, "kind": "claim", "item": item, "statement": f"{item} holds."}
    made |= {"setup": "wine", "dataset": "wine", "provenance": "real", "scale": SCALE, "size": "full", "seeds": 5}
    return made | {"ours": ours, "low": low, "high": high, "verdict": "holds"} | more


def run(root: Path, *papers: str, scale: str = SCALE, value: float = 0.5) -> Plan:
    """Write a finished run into a folder: of each exhibit and dataset what is published, and a claim a paper."""
    plan = Plan(CONFIG | {"papers": [*papers], "scale": scale})
    shutil.copy(ROOT / "params.yaml", root)
    for paper, name, exhibit in plan.exhibits():
        for file in published.files_of(paper, name, exhibit):
            written(root / "results" / published.source(file), scale)
    for dataset in plan.datasets():
        write_json(root / f"data/normalised/{dataset}.json", {"name": dataset, "files": {"a.csv": "0" * 64}})
    claims = [row(paper, "leaks", value, value - 0.1, value + 0.1, scale=scale) for paper in papers]
    cells.write(pd.DataFrame(claims), root / "results/claims.csv")
    return plan


def written(file: Path, scale: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".png":
        Image.new("RGBA", (2, 2), "white").save(file)
    elif file.suffix == ".md":
        file.write_text("| a |\n")
    elif "cells" in file.parts:
        pd.DataFrame(columns=[*WHO, "all", "seed", "value", "n", "cases", "skipped"]).to_csv(file, index=False)
    else:
        pd.DataFrame({"scale": [scale]}).to_csv(file, index=False)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the first paper's run is published."""
    root = tmp_path_factory.mktemp("published")
    run(root, FIRST)
    publish(root, "a" * 40)
    return root


@pytest.fixture
def root(once: Path, tmp_path: Path) -> Path:
    shutil.copytree(once, tmp_path / "root")
    return tmp_path / "root"


def test_another_paper_is_published_beside_the_first_one_in_the_order_of_the_params(root: Path) -> None:
    before = (root / "reference/claims.csv").read_text().splitlines()
    shutil.rmtree(root / "results")
    said = publish_of(root, SECOND)
    assert said.startswith(f"{SECOND} at scale {SCALE}")
    runs = published.runs(root / "reference")
    assert {paper: made["commit"][0] for paper, made in runs.items()} == {SECOND: "b", FIRST: "a"}
    assert [*runs] == [SECOND, FIRST]
    assert runs[SECOND]["seeds"] == str(CONFIG["scales"][SCALE]["seeds"])
    lines = (root / "reference/claims.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == [SECOND, FIRST]
    assert lines[2] == before[1]
    ledger = (root / "reference/ledger.md").read_text()
    assert f"## {SECOND}" in ledger
    assert f"## {FIRST}" in ledger
    assert read_json(root / "reference/data/wine.json")["files"]["a.csv"] == "0" * 64


def publish_of(root: Path, *papers: str, **more: object) -> str:
    run(root, *papers, **more)
    return publish(root, "b" * 40)


def test_the_value_of_each_seed_is_packed_in_the_same_bytes_each_time(root: Path) -> None:
    packed = sorted((root / "reference/cells").rglob("*.csv.gz"))
    before = [file.read_bytes() for file in packed]
    for file, content in zip(packed, before, strict=True):
        own = root / "results" / published.source(str(file.relative_to(root / "reference")))
        assert gzip.decompress(content) == own.read_bytes()
        assert cells.load(published.cells(root / "reference", FIRST, own.stem)).equals(cells.load(own))
    publish(root, "a" * 40)
    assert [file.read_bytes() for file in packed] == before != []


def test_a_paper_that_is_published_again_replaces_all_that_it_had(root: Path) -> None:
    stale = root / f"reference/exhibits/{FIRST}/gone.csv"
    stale.write_text("old")
    publish_of(root, FIRST, value=0.7)
    assert not stale.exists()
    claims = pd.read_csv(root / "reference/claims.csv")
    assert claims["ours"].tolist() == [0.7]
    assert published.runs(root / "reference")[FIRST]["commit"] == "b" * 40


@pytest.mark.parametrize(("scale", "what"), [("quick", "judges no printed numbers"), ("paper", "beside papers at")])
def test_no_scale_that_judges_less_or_other_than_that_of_the_papers_there(root: Path, scale: str, what: str) -> None:
    kept = (root / "reference/claims.csv").read_bytes()
    with pytest.raises(InputError, match=rf"^publish\.scale: {scale} {what}"):
        publish_of(root, SECOND, scale=scale)
    assert (root / "reference/claims.csv").read_bytes() == kept


@pytest.mark.parametrize("file", ["results/exhibits/marvell/comparison.png", "data/normalised/criteo.json"])
def test_what_is_not_there_is_named_before_anything_is_written(root: Path, file: str) -> None:
    kept = (root / "reference/runs.csv").read_bytes()
    (root / file).unlink()
    with pytest.raises(InputError, match=f"{file}: is not there"):
        publish(root, "b" * 40)
    assert (root / "reference/runs.csv").read_bytes() == kept


def test_a_table_of_another_scale_is_refused(root: Path) -> None:
    written(root / "results/exhibits/marvell/comparison.csv", "quick")
    with pytest.raises(InputError, match=r"marvell/comparison\.csv: is of scale quick; expected reference"):
        publish(root, "b" * 40)


def test_code_that_is_not_committed_is_refused(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    with pytest.raises(InputError, match=r"^publish\.commit"):
        commit_of(tmp_path)
    git("init")
    (tmp_path / "params.yaml").write_text("scale: quick\n")
    (tmp_path / "notes.txt").write_text("whatever")
    with pytest.raises(InputError, match=r"uncommitted changes \(params\.yaml\)"):
        commit_of(tmp_path)
    git("add", "params.yaml")
    git("commit", "--message", "all")
    assert len(commit_of(tmp_path)) == 40


def test_hours_are_those_of_the_papers_jobs_at_this_scale(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    plan = Plan(CONFIG | {"papers": ["tappfl"], "scale": SCALE})
    shown = plan.setups_used
    (long,) = (setup for grain in plan.grains if grain.one_seed for setup in grain.setups if setup in shown)
    defense = next(d for _, _, exhibit in plan.exhibits() for setup, d in sorted(plan.runs(exhibit)) if setup == long)
    others = ["run/loans_race/tappfl", "normalise/loans"]
    asked = [f"run/{long}/{defense}.seed{seed}" for seed in range(2)] + others
    of_another = [f"run/{long}/{defense}", "run/loans_race/tappfl.seed0", "run/wine/none"]  # scale, scale, paper
    for job in asked + of_another:
        file = tmp_path / f"{job}.benchmark.tsv"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("s\th:m:s\n3600.0\t1:00:00\n")
    assert hours(plan, "tappfl", tmp_path) == len(asked) / 2


def test_comparing_finds_the_rows_whose_intervals_are_apart(tmp_path: Path) -> None:
    nothing = float("nan")
    yours = [
        row("a", "apart", 0.5, 0.4, 0.6), row("a", "within", 0.5, 0.4, 0.6), row("a", "touching", 0.5, 0.4, 0.6),
        row("a", "exact", 3, nothing, nothing), row("a", "count", 3, 3, 3), row("a", "same", 1 / 3, nothing, nothing),
        row("a", "lacking", nothing, nothing, nothing), row("a", "none", nothing, nothing, nothing),
        row("a", "yours", 1, 1, 1),
    ]  # fmt: skip
    reference = [
        row("a", "apart", 0.8, 0.7, 0.9), row("a", "within", 0.59, 0.58, 0.9), row("a", "touching", 0.7, 0.6, 0.8),
        row("a", "exact", 3.1, nothing, nothing), row("a", "count", 4, 4, 4), row("a", "same", 1 / 3, nothing, nothing),
        row("a", "lacking", 1, 0.9, 1.1), row("a", "none", nothing, nothing, nothing),
        row("b", "theirs", 1, 1, 1), row("b", "theirs too", 1, 1, 1),
    ]  # fmt: skip
    for name, rows in (("yours", yours), ("reference", reference)):
        scale = "quick" if name == "yours" else SCALE
        cells.write(pd.DataFrame(rows).assign(scale=scale), tmp_path / f"{name}.csv")
    said = compare(tmp_path / "yours.csv", tmp_path / "reference.csv")
    assert [line.split("|")[2].strip() for line in said.splitlines() if line.startswith("| a")] == [
        "apart", "exact", "count", "lacking",
    ]  # fmt: skip
    assert said.startswith("Yours is at scale quick, the reference at scale reference. Their sizes differ")
    assert "8 rows compared, 4 differ" in said
    assert said.endswith("1 only in yours, 2 only in the reference.")
    assert "0.40 to 0.60" in said
    same = compare(tmp_path / "yours.csv", tmp_path / "yours.csv")
    assert len(same.splitlines()) == 2
    assert "9 rows compared, 0 differ" in same


def test_without_a_reference_comparing_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^compare\.reference: there is no"):
        compare(tmp_path / "claims.csv", tmp_path / "reference/claims.csv")


def test_what_was_published_before_an_exhibit_came_is_shown_without_it(once: Path) -> None:
    plan = Plan(CONFIG | {"papers": [FIRST, SECOND], "scale": SCALE})
    new = {"title": "new", "draw": {"use": "frontier"}}
    claim = {"text": "New.", "check": {"exhibit": "new"}}
    content = plan.papers[FIRST]
    changed = content | {
        "exhibits": content["exhibits"] | {"new": new}, "claims": content["claims"] | {"new": claim},
        "main": [{"text": "New.", "claims": ["new"]}], "errata": {"1": {"text": "It is.", "check": "exhibit new"}},
    }  # fmt: skip
    shown = published.shown(once / "reference", plan.papers | {FIRST: changed})
    assert [*shown] == [FIRST]
    assert shown[FIRST]["exhibits"].keys() == content["exhibits"].keys()
    assert shown[FIRST]["claims"].keys() == content["claims"].keys()
    assert shown[FIRST]["main"] == [{"text": "New.", "claims": []}]
    assert not shown[FIRST]["errata"]
    assert published.shown(once / "nowhere", plan.papers) == {}


def test_the_readme_says_which_papers_are_in_the_reference_run() -> None:
    told = dict(re.findall(r"^\| \[(\w+)\]\(.*\| (.*) \|$", (ROOT / "README.md").read_text(), flags=re.M))
    assert {paper for paper, status in told.items() if "scale reference" in status} == {
        *published.runs(ROOT / "reference")
    }
    assert told.keys() >= {*CONFIG["papers"]}


def test_more_than_is_to_be_committed_is_refused(root: Path, monkeypatch) -> None:
    monkeypatch.setattr("cutlayer.reference.publish.LIMIT", 0.001)
    with pytest.raises(InputError, match=r"reference: takes \d+\.\d MB; at most 0\.001 are committed"):
        publish(root, "b" * 40)
