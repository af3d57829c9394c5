"""Whatever ends a run, what is there afterwards is whole, and the next run finishes it with the same bytes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from cutlayer.core.artifacts import read_arrays
from cutlayer.core.errors import InputError
from cutlayer.core.memory import SETTINGS
from cutlayer.data import verify
from launch import notes, processes

from .conftest import LONG, ROOT, Project


def jobs_of(process: psutil.Process) -> list[psutil.Process]:
    """The jobs that a workflow runs at this moment."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return [p for p in process.children(recursive=True) if ".snakemake/scripts/" in " ".join(_command(p))]
    return []


def _command(process: psutil.Process) -> list[str]:
    with contextlib.suppress(psutil.Error):
        return process.cmdline()
    return []


def first_jobs(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """Wait until a workflow runs jobs; none if it ended before."""
    while process.poll() is None:
        if jobs := jobs_of(psutil.Process(process.pid)):
            return jobs
        time.sleep(0.01)
    return []


def kill_at(moment: float, process: subprocess.Popen[str], victim: str) -> bool:
    """Kill the command, or one of its jobs, so many seconds after its start; False if it had ended, or had no job."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(moment)
        return False
    if victim == "job":
        if not (jobs := first_jobs(process)):
            return False
        jobs[0].kill()
    else:
        process.kill()
    process.wait(LONG)
    return True


def only_whole_files(project: Project, reference: Project) -> None:
    """Every result that is there is as in the undisturbed run; nothing else looks like a result."""
    results = project.folder / "results"
    files = [f for f in results.rglob("*") if f.is_file() and "/." not in f"/{f.relative_to(results)}"]
    for file in [f for f in files if f.name != "report.html"]:
        expected = reference.folder / file.relative_to(project.folder)
        if file.suffix == ".safetensors":
            read_arrays(file)
        assert expected.exists(), file
        if file.suffix in (".csv", ".safetensors", ".md", ".png"):
            assert file.read_bytes() == expected.read_bytes(), file


def same(project: Project, reference: Project) -> None:
    assert project.csv() == reference.csv()
    only_whole_files(project, reference)


def test_a_kill_while_the_owner_signs_leaves_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else nobody would dare to remove the lock that the killed one left."""

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    owner = tmp_path / "owner"
    owner.write_text("another-host process 123456789\n")
    monkeypatch.setattr(os, "ftruncate", killed)
    with processes._open(owner) as file, pytest.raises(KeyboardInterrupt):
        processes._sign(file)
    assert owner.read_text().startswith(f"{socket.gethostname()} process {os.getpid()}\n")


def no_access(path: Path, flags: int, mode: int = 0o777) -> int:
    raise PermissionError


@pytest.mark.parametrize("call", [processes.settle, processes.claim], ids=["settle", "claim"])
def test_a_lock_of_another_user_is_no_free_one(
    call: Callable[[], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(processes.MAIN, "")
    processes.STATE.mkdir()
    for file in (processes.PRESENT, processes.OWNER):
        file.write_text("a-host process 12\n")
    monkeypatch.setattr(os, "open", no_access)
    with pytest.raises(InputError, match=r"belongs to user \w+ \(a-host process 12\); expected a folder of your own"):
        call()


@pytest.mark.parametrize(("mask", "mode"), [(0o002, 0o664), (0o077, 0o600)])
def test_locks_are_for_whom_the_umask_says(mask: int, mode: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    with contextlib.closing(processes._open(tmp_path / "lock")):
        os.umask(before)
    assert (tmp_path / "lock").stat().st_mode & 0o777 == mode


def test_a_failure_is_known_until_its_job_has_run_again(tmp_path: Path) -> None:
    note = tmp_path / "run/wine/broken.seed1.json"
    assert notes.attempt(note) == 0
    notes.attempt.cache_clear()
    notes.record(note, 1, ["failed: ValueError"])
    assert (notes.attempt(note), notes.attempt(note, True)) == (2, 1)
    notes.record(note, 2, [])
    assert notes.attempt(note) == 2  # as when this run began
    notes.attempt.cache_clear()
    assert notes.attempt(note) == 2


@pytest.mark.parametrize(("names", "known"), [({"wine", "broken"}, True), ({"wine"}, False), ({"broken"}, False)])
def test_a_failure_of_a_method_that_is_gone_is_nobodys(names: set[str], known: bool, tmp_path: Path) -> None:
    notes.record(tmp_path / "run/wine/broken.seed1.json", 1, ["failed: ValueError"])
    assert notes.found(names, tmp_path) == (["run/wine/broken.seed1: ValueError"] if known else [])


def test_no_output_is_a_folder() -> None:
    """Snakemake would remove it, the site for one, before a job that may fail begins."""
    assert not [file.name for file in (ROOT / "rules").glob("*.smk") if "directory(" in file.read_text()]


FEW = ("--quiet", "--config", "papers=[chebyshev]")


def test_only_a_run_changes_what_is_known_of_failures(project: Project) -> None:
    """And each run ends with them until the job has run again."""
    note, job = "results/failed/run/wine/none.json", "results/runs/wine/none/utility.csv"
    notes.record(project.folder / note, 1, ["failed: ValueError: no"])

    def files() -> dict[Path, tuple[int, bytes]]:
        ours = [file for part in ("results", "logs", "data") for file in (project.folder / part).rglob("*")]
        ours += (project.folder / ".snakemake").glob("cutlayer.*")
        return {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in ours if file.is_file()}

    before = files()
    for look in (("--lint",), ("--dry-run", job), ("--summary", job)):
        project.snakemake(*look, *FEW)
        assert files() == before, look
    project.snakemake("--touch", job, *FEW)
    assert files()[project.folder / note] == before[project.folder / note]
    other = project.snakemake("data/normalised/wine.json", *FEW)
    assert other.returncode != 0
    assert "run/wine/none: ValueError: no" in other.stderr + other.stdout
    project.run(job, *FEW)
    assert json.loads((project.folder / note).read_text()) == {"attempt": 2, "reasons": []}
    assert "Nothing to be done" in project.run("--dry-run", job, "--config", "papers=[chebyshev]")


def test_a_second_workflow_says_so_harms_nothing_and_jobs_end_with_theirs(
    small_edited: Project, undisturbed: Project
) -> None:
    for part in ("runs", "scores", "theory", "cells"):
        shutil.rmtree(small_edited.folder / "results" / part)
    first = small_edited.start("--quiet")
    jobs = first_jobs(first)
    assert jobs
    first.send_signal(signal.SIGSTOP)  # it starts no other job, and stays
    target = "results/theory/chebyshev/wine/none.csv"
    for second in (small_edited.snakemake("--quiet"), small_edited.snakemake(target, "--nolock")):
        assert second.returncode != 0
        assert "Another workflow works in this folder" in second.stderr
        assert f"process {first.pid}" in second.stderr
    first.send_signal(signal.SIGCONT)
    only_whole_files(small_edited, undisturbed)
    while not (jobs := jobs_of(psutil.Process(first.pid))):
        assert first.poll() is None
    first.kill()
    first.wait()
    assert not psutil.wait_procs(jobs, timeout=LONG)[1]
    small_edited.run("--quiet")
    same(small_edited, undisturbed)


@pytest.fixture
def little_disk(small: Project) -> Iterator[Path]:
    """The results of the small DAG on a file system of their own, too small for them."""
    results = small.folder / "results"
    results.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(results)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("a file system can only be mounted by root, where the kernel allows it")
    yield results
    subprocess.run(["umount", str(results)], check=True)


def test_a_full_disk_is_named_and_loses_nothing(small: Project, little_disk: Path, undisturbed: Project) -> None:
    full = small.snakemake("--keep-going", "--quiet")
    assert full.returncode != 0
    assert "error: disk: is full" in full.stderr + full.stdout
    only_whole_files(small, undisturbed)
    assert not list(little_disk.rglob(".*.safetensors"))
    subprocess.run(["mount", "-o", "remount,size=200m", str(little_disk)], check=True)
    small.run("--quiet")
    same(small, undisturbed)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_a_flipped_bit_is_found_named_and_mended(small_edited: Project, undisturbed: Project) -> None:
    """In normalised data and in what a run wrote; by the jobs that read them and by `make verify`."""
    damaged = ["data/normalised/robot.safetensors", "results/runs/wine/none/seed1.transcript.safetensors"]
    for file in damaged:
        flip(small_edited.folder / file)
    for part in ("runs/robot", "theory/chebyshev/robot", "cells/chebyshev"):  # a job will read the data
        shutil.rmtree(small_edited.folder / "results" / part)
    done = small_edited.snakemake("--quiet", "--keep-going")
    assert done.returncode != 0
    for file in damaged:
        assert f"file.{file}: is not as it was written: its checksum differs" in done.stderr + done.stdout
        assert [line for line in verify.damaged(small_edited.folder) if file in line]
        (small_edited.folder / file).unlink()
    small_edited.run("--quiet")
    same(small_edited, undisturbed)
    assert not list(verify.damaged(small_edited.folder))


@pytest.mark.mirror
def test_a_flipped_bit_in_raw_data_is_found_and_named(project: Project) -> None:
    project.run("data/normalised/robot.json", "--quiet")
    assert not list(verify.damaged(project.folder))
    flip(project.folder / "data/raw/robot/sensor_readings_24.data")
    (found,) = verify.damaged(project.folder)
    again = project.snakemake("data/normalised/robot.json", "--forcerun", "normalise", "--quiet")
    assert again.returncode != 0
    for text in (found, again.stderr + again.stdout):
        assert "robot/sensor_readings_24.data: has the sha256" in text


BROKEN = '''"""broken: fails."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cutlayer.games.vertical.defense import Defense, Context


@dataclass(frozen=True)
class Broken(Defense):
    """Scores that divide by zero."""

    def reveal(self, logits: np.ndarray, context: Context) -> np.ndarray:
        """Never."""
        raise ZeroDivisionError("no score is left")
'''
MENDED = BROKEN.replace(
    'raise ZeroDivisionError("no score is left")',
    'Path("names").write_text(" ".join(os.environ))\n        return super().reveal(logits, context)',
)


def test_what_fails_is_marked_and_everything_else_is_made(small_edited: Project) -> None:
    plugin = small_edited.folder / "workflow/cutlayer/games/vertical/defenses/broken.py"
    plugin.write_text(BROKEN)
    small_edited.replace("params.yaml", "\ndefenses:\n", "\ndefenses:\n  broken: { use: broken }\n")
    small_edited.replace("workflow/papers/chebyshev/paper.yaml", "scheme1 on wine", "scheme1, broken on wine")
    stopped = small_edited.snakemake("--quiet")
    assert stopped.returncode != 0
    assert "no score is left" in stopped.stderr + stopped.stdout
    for _ in ("marked", "tried again"):
        marked = small_edited.snakemake("--keep-going", "--printshellcmds")
        assert marked.returncode != 0
        assert re.search(r"output: .*broken/utility\.csv", marked.stderr + marked.stdout)
        assert "run/wine/broken: ZeroDivisionError: no score is left" in marked.stderr + marked.stdout
        table = (small_edited.folder / "results/exhibits/chebyshev/comparison.csv").read_text()
        assert table.count("failed: ZeroDivisionError: no score is left") >= 3
        ledger = (small_edited.folder / "results/ledger.md").read_text()
        assert "- wine / broken: ZeroDivisionError: no score is left" in ledger
        assert re.search(r"\| not refuted\\\*", ledger)  # on less than the paper's sizes
        page = (small_edited.folder / "results/site/chebyshev.html").read_text()
        assert "failed: wine / broken: ZeroDivisionError: no score is left" in page
    plugin.write_text(MENDED)
    small_edited.run("--keep-going", "--quiet")
    names = (small_edited.folder / "names").read_text().split()
    assert set(SETTINGS) <= {*names}  # of the environment of a job
    assert "broken: ZeroDivisionError" not in (small_edited.folder / "results/ledger.md").read_text()
    assert "Nothing to be done" in small_edited.run("--dry-run")
