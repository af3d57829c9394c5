"""Data and results travel: to a remote and back, and raw files from their public address."""

from __future__ import annotations

import contextlib
import functools
import http.server
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from cutlayer.data.acquire import Unavailable, acquire
from cutlayer.data.sources import made_of, read_sources
from cutlayer.plan.plan import Plan
from tests.params import params, read

from ..workflow.conftest import blocks, copy, prune
from .conftest import PARTS, ROOT, Repository, track

POINTERS = {str(file.relative_to(ROOT)): read(file) for file in ROOT.glob("data/raw/*/*.dvc")}


ROWS = [(f"data/raw/{row.dataset}/{row.file}.dvc", row) for row in read_sources(ROOT / "data/sources.csv") if row.file]
SOURCES = dict(ROWS)  # versions may share a file


def versions_in_use(folder: Path = ROOT) -> dict[str, dict[str, set[str]]]:
    """Dataset -> version -> pointers, of what a project needs; files whose checksum nobody knows are left out."""
    found: dict[str, dict[str, set[str]]] = {}
    for dataset in Plan(read(folder / "params.yaml"), folder / "workflow").datasets():
        for name, row in ROWS:
            if dataset in made_of(row) and row.sha256:
                found.setdefault(dataset, {}).setdefault(row.version, set()).add(name)
    return found


def test_a_tracked_file_has_its_address() -> None:
    for name, pointer in POINTERS.items():
        row = SOURCES[name]
        assert pointer["outs"][0]["path"] == row.file
        assert pointer["outs"][0]["size"] == int(row.bytes)
        if row.url.endswith(f"/{row.file}") and not row.member:  # else an archive, a web page, or nothing
            assert [dep["path"] for dep in pointer["deps"]] == [row.url]
            assert pointer["frozen"]
        else:
            assert row.url in pointer["desc"]
            assert row.member in pointer["desc"]
            assert row.url or row.note == pointer["desc"]


def test_every_dataset_in_use_is_tracked_in_one_version() -> None:
    assert versions_in_use()
    for dataset, versions in versions_in_use().items():
        tracked = set().union(*versions.values()) & POINTERS.keys()
        assert tracked in versions.values(), f"{dataset}: `make imports`, then commit data/raw"


@pytest.mark.mirror
def test_writing_the_pointers_again_changes_nothing(tmp_path: Path) -> None:
    here = minimal(tmp_path / "here", "params.yaml", "data/sources.csv", *POINTERS)
    shutil.copytree(ROOT / "workflow", here.folder / "workflow", ignore=shutil.ignore_patterns("__pycache__"))
    here.save("before")
    raw, sources = here.folder / "data/raw", here.folder / "data/sources.csv"
    for dataset in versions_in_use(here.folder):
        with contextlib.suppress(Unavailable):
            acquire(dataset, raw, os.environ["CUTLAYER_MIRROR"], True, sources)
    for name in POINTERS:
        (here.folder / name).unlink()
    here.ok("python", "workflow/tracking/imports.py")
    assert not here.git("status", "--porcelain")


def name(repository: Repository, place: Path) -> None:
    """Name the place to share at as docs/dvc.md does, and commit that."""
    (command, _), *_ = (block.splitlines() for block in blocks("docs/dvc.md", "sh")[1:])
    repository.ok(*command.replace("<folder or bucket>", str(place)).split())
    repository.save("a place to share at")


def test_a_clone_that_pulls_has_nothing_to_do(recorded: Repository, tmp_path: Path) -> None:
    shutil.copytree(recorded.folder, tmp_path / "project", symlinks=True)
    here = Repository(tmp_path / "project", mirror="")
    name(here, tmp_path / "remote")
    pushed = here.make("push")
    assert pushed.returncode == 0, pushed.stderr
    assert "new:" not in here.dvc("status", "--cloud")
    assert not here.git("status", "--porcelain")

    here.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    clone = Repository(tmp_path / "clone", mirror="")
    pulled = clone.make("pull")
    assert pulled.returncode == 0, pulled.stdout + pulled.stderr
    assert clone.csv() == recorded.csv()
    assert clone.up_to_date()
    assert not any(line.startswith("Running") for line in clone.dvc("repro").splitlines())

    # Snakemake knows what the pulled results were made with, not only when.
    clone.replace("params.yaml", "gia: { steps: 50", "gia: { steps: 40")
    assert not clone.up_to_date()
    clone.replace("params.yaml", "gia: { steps: 40", "gia: { steps: 50")
    (clone.folder / "results/claims.csv").write_text("not what the lock records\n")
    refused = clone.make("settle")
    assert refused.returncode != 0
    assert "not what dvc.lock records" in refused.stderr


def test_a_paper_alone_is_recorded_and_half_a_record_is_not_pushed(tmp_path: Path) -> None:
    """One whose only exhibit shows the data: no runs, no scores, nothing that is measured."""
    here = Repository(prune(copy(tmp_path / "project")).folder, mirror="")
    track(here)
    here.replace("params.yaml", f"papers: [{', '.join(params()['papers'])}]", "papers: [marvell]")
    name(here, tmp_path / "remote")
    here.dvc("repro", "runs")
    folders = {file.name for file in (here.folder / "results").iterdir() if file.is_dir()}
    assert {"runs", "scores", "theory", "matches", "vulnerable"} <= folders
    half = here.make("push")
    assert half.returncode != 0
    assert "error: dvc.lock: does not record these results" in half.stderr
    assert "(stages exhibits, ledger, site); `make record` first" in half.stderr
    assert not (tmp_path / "remote").exists()
    shutil.rmtree(here.folder / "results")
    here.dvc("checkout", "runs")
    assert (here.folder / "results/matches").is_dir()
    assert "rule table" in here.ok("snakemake", "--dry-run", "--cores", "1", "exhibits")  # it has no figure


@pytest.fixture
def bare(tmp_path: Path) -> Repository:
    """A folder with what `make` and DVC read, under no git."""
    (tmp_path / "project/.dvc").mkdir(parents=True)
    for name in ("Makefile", ".dvc/config", ".gitignore"):
        shutil.copy(ROOT / name, tmp_path / "project" / name)
    (tmp_path / "project/dvc.yaml").write_text("stages: {}\n")
    return Repository(tmp_path / "project")


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


@pytest.fixture
def address(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A web server and the folder it shows."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    folder = tmp_path / "public"
    folder.mkdir()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", folder
    server.shutdown()
    thread.join()
    server.server_close()


def minimal(folder: Path, *more: str) -> Repository:
    """A repository with nothing but DVC's settings, and `more` files."""
    for part in (*PARTS, *more):
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / part, folder / part)
    (folder / "dvc.yaml").unlink()
    repository = Repository(folder, mirror="")
    repository.init()
    return repository


def test_a_raw_file_comes_from_its_address_and_else_from_a_remote(address: tuple[str, Path], tmp_path: Path) -> None:
    url, public = address
    (public / "sat.trn").write_text("1 2 3\n")
    there = minimal(tmp_path / "there")
    pointer = there.folder / "data/raw/satellite/sat.trn.dvc"
    pointer.parent.mkdir(parents=True)
    pointer.write_text(
        yaml.safe_dump(POINTERS["data/raw/satellite/sat.trn.dvc"] | {"deps": [{"path": f"{url}/sat.trn"}]})
    )
    there.dvc("update", "--recursive", "data/raw")
    assert (there.folder / "data/raw/satellite/sat.trn").read_text() == "1 2 3\n"
    there.dvc("remote", "add", "--default", "store", str(tmp_path / "remote"))
    assert "new:" in there.dvc("status", "--cloud")
    there.dvc("push")
    assert "in sync" in there.dvc("status", "--cloud")
    there.save("updated")

    (public / "sat.trn").unlink()
    there.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    clone = Repository(tmp_path / "clone", mirror="")
    clone.dvc("fetch")
    clone.dvc("pull")
    assert (clone.folder / "data/raw/satellite/sat.trn").read_text() == "1 2 3\n"


@pytest.mark.mirror
def test_original_files_are_pushed_and_pulled(tmp_path: Path) -> None:
    names = [name for name in POINTERS if name.startswith("data/raw/robot/")]
    here = minimal(tmp_path / "here", "data/sources.csv", "workflow/tracking/raw.py", *names)
    acquire("robot", here.folder / "data/raw", os.environ["CUTLAYER_MIRROR"], True, here.folder / "data/sources.csv")
    here.dvc("remote", "add", "--default", "store", str(tmp_path / "remote"))
    here.save("with a remote")
    pushed = here.make("push")
    assert pushed.returncode == 0, pushed.stderr

    here.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    clone = Repository(tmp_path / "clone", mirror="")
    clone.dvc("pull")
    files = [name.removesuffix(".dvc") for name in names]
    assert files
    assert [(clone.folder / name).read_bytes() for name in files] == [
        (here.folder / name).read_bytes() for name in files
    ]


def test_a_raw_file_that_is_another_one_is_not_pushed(tmp_path: Path) -> None:
    here = minimal(tmp_path / "here")
    for name in ("data/raw/satellite/sat.trn.dvc", "workflow/tracking/raw.py"):
        (here.folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, here.folder / name)
    (here.folder / "data/raw/satellite/sat.trn").write_text("not the original\n")
    done: subprocess.CompletedProcess[str] = here.call("python", "workflow/tracking/raw.py")
    assert done.returncode != 0
    assert "data/raw/satellite/sat.trn: is not the one" in done.stderr


def test_without_git_nothing_is_pushed_and_it_says_why(tmp_path: Path) -> None:
    """As in a tree that was downloaded as an archive."""
    here = minimal(tmp_path / "here", "workflow/tracking/raw.py")
    shutil.rmtree(here.folder / ".git")
    done = here.call("python", "workflow/tracking/raw.py")
    assert done.returncode == 1
    assert re.fullmatch("error: .*here is not a git repository\n", done.stderr)
