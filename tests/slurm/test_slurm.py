"""The profile on a real SLURM: same bytes as locally, more memory after a kill, nothing lost when interrupted."""

from __future__ import annotations

import re
import shlex
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
import yaml

from tests.workflow.conftest import ROOT, Project, blocks, copy, finished, linked, untimed  # noqa: F401

from .cluster import DAEMONS, ENDLESS, Cluster, Job, eventually

IMPATIENT = Path(__file__).parent / "impatient.py"
SETTINGS = "profiles/slurm/config.yaml"
SCORES = [f"results/scores/{setup}/none/{attack}.csv" for setup in ("wine", "wine_half") for attack in ("half", "rcc2")]


def test_killed_tests_leave_no_daemon(slurm: None) -> None:
    """The test process is killed; its daemons end, and what is left of its configuration is no real cluster's."""
    code = (
        "from tests.slurm.cluster import *\nwith running() as c: print(c.folder, *(d.pid for d in c.daemons)), input()"
    )
    with subprocess.Popen(
        [sys.executable, "-uc", code], cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        folder, *daemons = process.stdout.readline().split()
        assert len(daemons) == len(DAEMONS)
        process.kill()
    eventually("a daemon survives", lambda: not any(psutil.pid_exists(int(pid)) for pid in daemons))
    Cluster(Path(folder)).stop()


def test_this_slurm_has_sacct_and_no_accounting(cluster: Cluster) -> None:
    """The profile must run there as documented, as it does with accounting."""
    done = subprocess.run(["sacct"], text=True, capture_output=True, check=False)
    assert done.returncode != 0
    assert "accounting storage is disabled" in done.stderr


@dataclass
class Submitted(Project):
    """A copy of the project that runs on the cluster of the test, through the profile."""

    def command(self, *arguments: str, cores: int = 1, tiny: bool = True) -> list[str]:
        """As docs/cluster.md has it, and nothing else but what to make, and at which scale."""
        documented = shlex.split(blocks("docs/cluster.md", "sh")[0])
        assert documented[0] == "snakemake"
        scale = ("--configfile", "tests/workflow/tiny.yaml") if tiny else ()
        return [sys.executable, str(IMPATIENT), *documented[1:], *arguments, *scale]


def submitted(folder: Path) -> Submitted:
    """A fresh copy on the cluster."""
    return through_the_profile(Submitted(copy(folder).folder))


def through_the_profile(project: Submitted) -> Submitted:
    """Tell it the names of the partitions, in the one place that docs/cluster.md names."""
    project.replace(SETTINGS, "  cpu: {}", "  normal: {}")
    project.replace(SETTINGS, "  gpu: {", "  accelerated: {")
    return project


def since(cluster: Cluster, before: list[Job]) -> list[Job]:
    return cluster.jobs()[len(before) :]


def hungry(folder: Path, **variants: int) -> Submitted:
    """The project with attacks that hold so many MB."""
    project = submitted(folder)
    shutil.copy(Path(__file__).parent / "hungry.py", project.folder / "workflow/cutlayer/games/vertical/attacks")
    lines = [f"  {name}: {{ use: hungry, mb: {mb} }}\n" for name, mb in variants.items()]
    project.replace("params.yaml", "\nattacks:\n", "\nattacks:\n" + "".join(lines))
    return project


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A few scores, made without SLURM."""
    project = copy(tmp_path_factory.mktemp("local"))
    project.run(*SCORES, "--quiet")
    return project


def test_the_account_is_set_in_the_profile(slurm: None, tmp_path: Path) -> None:
    project = submitted(tmp_path)
    project.replace(SETTINGS, "# slurm_account: my_project #", "slurm_account: my_project #")
    planned = project.run("--dry-run", SCORES[0])
    assert planned.count("slurm_account=my_project") == 3


@pytest.fixture(scope="module")
def starved(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, list[Job]]:
    """A run whose attack takes more than the first attempt asks for, and its SLURM jobs."""
    project, before = hungry(tmp_path_factory.mktemp("starved"), big=2600), cluster.jobs()
    project.run("results/scores/wine/none/big.csv")
    return project, since(cluster, before)


def test_a_job_that_is_killed_for_memory_gets_more(starved: tuple[Project, list[Job]]) -> None:
    project, (_, first, second) = starved
    assert (first.State, first.MinMemory, first.TimeLimit) == ("FAILED", "2000M", "4:00")
    assert (second.State, second.MinMemory, second.TimeLimit) == ("COMPLETED", "4000M", "8:00")
    assert (project.folder / "results/scores/wine/none/big.csv").stat().st_size > 100


def test_gpus_go_to_what_uses_torch(starved: tuple[Project, list[Job]]) -> None:
    project, (data, *models) = starved
    assert (data.Partition, data.tres_per_job) == ("normal", "N/A")
    assert {(model.Partition, model.tres_per_job) for model in models} == {("accelerated", "gres:gpu:1")}
    log = (project.folder / "logs/attack/wine/none/big.log").read_text()
    assert re.search(r"CUDA_VISIBLE_DEVICES=[01]\n", log)
    assert "device: " in log  # the script knows what it was granted, and says what it makes of that


def test_without_gpus_no_job_asks_for_one(cluster: Cluster, tmp_path: Path) -> None:
    project, before = hungry(tmp_path, spy=1), cluster.jobs()
    project.replace(SETTINGS, "  gpu: 4 #", "  gpu: 0 #")
    project.run("results/scores/wine/none/spy.csv")
    assert {(job.Partition, job.tres_per_job) for job in since(cluster, before)} == {("normal", "N/A")}
    log = (project.folder / "logs/attack/wine/none/spy.log").read_text()
    assert "CUDA_VISIBLE_DEVICES=None" in log
    assert "device: " not in log


def test_a_canceled_run_is_resumed(cluster: Cluster, local: Project, tmp_path: Path) -> None:
    project, before = submitted(tmp_path), cluster.jobs()
    process = project.start(*SCORES)
    eventually("no run starts", lambda: cluster.halted("run"))  # so that it does not end before it is canceled
    process.send_signal(signal.SIGINT)
    assert process.wait(ENDLESS) != 0
    cluster.cancel()  # what Snakemake forgot: that for whose state it asked when it was interrupted
    assert since(cluster, before)[-1].State == "CANCELLED"
    before = cluster.jobs()
    project.run(*SCORES)
    assert [job.State for job in since(cluster, before)] == ["COMPLETED"]
    assert project.csv() == local.csv()


def one_of_each_paper(finished: Project) -> list[str]:  # noqa: F811
    """The smallest figure of each paper, and of all tables the smallest."""
    smallest: dict[str, tuple[int, str]] = {}
    for file in (finished.folder / "workflow/papers").glob("*/paper.yaml"):
        paper = file.parent.name
        for name, exhibit in yaml.safe_load(file.read_text())["exhibits"].items():
            size = (finished.folder / f"results/cells/{paper}/{name}.csv").stat().st_size
            kind = "table" if exhibit["draw"]["use"] == "table" else paper
            found = size, f"results/exhibits/{paper}/{name}.csv"
            smallest[kind] = min(found, smallest.get(kind, found))
    return sorted(target for _, target in smallest.values())


def one_run_of_each_protocol(finished: Project, targets: list[str]) -> list[str]:  # noqa: F811
    """Of the runs that targets need, a defended one where there is one: all others need the undefended one."""
    planned = finished.run(*targets, "--dry-run", "--forceall")
    found = set(re.findall(r"results/runs/(\w+)/(\w+)/utility\.csv", planned))
    runs = sorted(found, key=lambda run: (run[1] != "none", run))
    setups = yaml.safe_load((finished.folder / "params.yaml").read_text())["setups"]
    chosen = {setups[setup]["protocol"]: f"{setup}/{defense}" for setup, defense in runs}
    assert chosen.keys() == {setup["protocol"] for setup in setups.values()}
    return [*chosen.values()]


def test_exhibits_of_all_papers_have_the_same_bytes(
    cluster: Cluster,
    finished: Project,  # noqa: F811
    tmp_path: Path,
) -> None:
    """A figure of each paper, a table, and all that they take of a run of each protocol; times are other ones."""
    targets = one_of_each_paper(finished)
    anew = one_run_of_each_protocol(finished, targets)
    shutil.copytree(finished.folder, tmp_path / "copy", copy_function=linked)
    remote, before = through_the_profile(Submitted(tmp_path / "copy")), cluster.jobs()
    for name in targets:
        (remote.folder / name).unlink()
        (remote.folder / name.replace("exhibits", "cells")).unlink()
    shutil.rmtree(remote.folder / "logs")
    for run in anew:
        for made in [*remote.folder.glob(f"results/*/{run}"), *remote.folder.glob(f"results/**/{run}.csv")]:
            shutil.rmtree(made) if made.is_dir() else made.unlink()
    (grouped,) = re.findall("`(--group-components .*?)`", (ROOT / "docs/cluster.md").read_text())
    remote.run(*targets, "--quiet", *grouped.split())
    logs = [str(log.relative_to(remote.folder / "logs")) for log in (remote.folder / "logs").rglob("*.log")]
    assert {f"run/{run}.log" for run in anew} <= {*logs}
    assert len(since(cluster, before)) < len(logs) / 4
    assert {job.State for job in since(cluster, before)} == {"COMPLETED"}
    alone, together = untimed(finished), untimed(remote)
    assert {*targets} - together.keys() <= {
        f"results/exhibits/{name}.csv" for name in ("secdt/figure8", "tappfl/table1_times")
    }
    assert together.items() <= alone.items()
    assert "Nothing to be done" in remote.run(*targets, "--dry-run")
