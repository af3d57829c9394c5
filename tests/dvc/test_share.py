"""Data and results travel: to a remote and back."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cutlayer.data.sources import made_of, read_sources
from cutlayer.plan.plan import Plan
from tests.params import params, read

from ..workflow.conftest import blocks
from .conftest import ROOT, Repository

POINTERS = {str(file.relative_to(ROOT)): read(file) for file in ROOT.glob("data/raw/*/*.dvc")}
ROWS = [(f"data/raw/{row.dataset}/{row.file}.dvc", row) for row in read_sources(ROOT / "data/sources.csv") if row.file]


def test_a_tracked_file_is_one_of_the_sources() -> None:
    sizes = {name: row.bytes for name, row in ROWS}  # versions may share a file
    for name, pointer in POINTERS.items():
        (out,) = pointer["outs"]
        assert (f"{out['path']}.dvc", str(out["size"])) == (Path(name).name, sizes[name])


def test_every_dataset_in_use_is_tracked_in_one_version() -> None:
    for dataset in Plan(params(), ROOT / "workflow").datasets():
        versions: dict[str, set[str]] = {}
        for name, row in ROWS:
            if dataset in made_of(row) and row.sha256:
                versions.setdefault(row.version, set()).add(name)
        tracked = set().union(*versions.values()) & POINTERS.keys()
        assert not versions or tracked in versions.values(), f"{dataset}: `dvc add` its files, and commit data/raw"


def test_a_clone_that_pulls_has_nothing_to_do(changed: Repository, tmp_path: Path) -> None:
    share, pull = blocks("docs/dvc.md", "sh")[1:3]
    name, push, *commit = share.replace("<folder or bucket>", str(tmp_path / "remote")).splitlines()
    changed.ok(*name.split())
    pushed = changed.make(push.removeprefix("make "))
    assert pushed.returncode == 0, pushed.stderr
    for line in commit:
        changed.ok("bash", "-c", line)
    assert "new:" not in changed.dvc("status", "--cloud")
    assert not changed.git("status", "--porcelain")

    changed.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    clone = Repository(tmp_path / "clone", mirror="")
    bring, settle = pull.splitlines()
    clone.ok(*bring.split())
    settled = clone.make(settle.removeprefix("make "))
    assert settled.returncode == 0, settled.stdout + settled.stderr
    between = ("results/runs/", "results/scores/", "results/theory/", "results/matches/", "results/vulnerable/")
    assert clone.csv() == {name: table for name, table in changed.csv().items() if not name.startswith(between)}
    assert clone.up_to_date()
    assert not any(line.startswith("Running") for line in clone.dvc("repro").splitlines())

    # Snakemake knows what the pulled results were made with, not only when.
    clone.replace("params.yaml", "gia: { steps: 50", "gia: { steps: 40")
    assert not clone.up_to_date()
    clone.replace("params.yaml", "gia: { steps: 40", "gia: { steps: 50")
    (clone.folder / "results/claims.csv").write_text("not what the lock records\n")
    refused = clone.make("settle")
    assert refused.returncode != 0
    assert "not what dvc.lock says" in refused.stderr


@pytest.fixture
def bare(tmp_path: Path) -> Repository:
    """A folder with what `make` and DVC read, under no git."""
    (tmp_path / "project/.dvc").mkdir(parents=True)
    for name in ("Makefile", ".dvc/config", ".gitignore"):
        shutil.copy(ROOT / name, tmp_path / "project" / name)
    (tmp_path / "project/dvc.yaml").write_text("stages: {}\n")
    return Repository(tmp_path / "project")


def test_original_files_that_are_here_are_pushed_and_pulled(bare: Repository) -> None:
    """Also those that Snakemake brought, which DVC has not seen; not one that is another than the recorded one."""
    bare.init()
    raw = bare.folder / "data/raw/mine"
    raw.mkdir(parents=True)
    for name in ("here.csv", "absent.csv"):
        (raw / name).write_text(f"the original of {name}\n")
        bare.dvc("add", f"data/raw/mine/{name}")
    (raw / "absent.csv").unlink()
    shutil.rmtree(bare.folder / ".dvc/cache")
    bare.dvc("remote", "add", "--default", "store", str(bare.folder.parent / "remote"))
    bare.save("with a remote")
    pushed = bare.make("push")
    assert pushed.returncode == 0, pushed.stderr
    assert not bare.git("status", "--porcelain")

    bare.git("clone", "--quiet", ".", str(bare.folder.parent / "clone"))
    clone = Repository(bare.folder.parent / "clone")
    clone.dvc("pull", "--allow-missing")
    names = [file.name for file in (clone.folder / "data/raw/mine").iterdir() if file.suffix == ".csv"]
    assert names == ["here.csv"]
    (clone.folder / "data/raw/mine/here.csv").write_text("another one\n")
    refused = clone.make("push")
    assert refused.returncode != 0
    assert "data/raw/mine/here.csv.dvc" in refused.stderr


def test_settle_says_why_dvc_cannot_tell(bare: Repository) -> None:
    refused = bare.make("settle")
    assert refused.returncode != 0
    assert "is not a git repository" in refused.stderr
    assert "dvc.lock" not in refused.stderr


def test_results_on_another_disk_are_cleaned_and_no_file_of_git(bare: Repository) -> None:
    disk = bare.folder.parent / "disk"
    (disk / "runs").mkdir(parents=True)
    for name in ("metrics.json", "runs/utility.csv", ".hidden"):
        (disk / name).write_text("made\n")
    (bare.folder / "results").symlink_to(disk)
    bare.init()
    assert "results" not in bare.git("status", "--porcelain")
    assert bare.make("clean").returncode == 0
    assert (bare.folder / "results").is_symlink()
    assert not [*disk.iterdir()]
    (bare.folder / "results").unlink()
    assert bare.make("clean").returncode == 0
