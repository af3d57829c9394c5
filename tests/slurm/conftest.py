"""A SLURM for the tests of this folder, gone before others run: where it is installed every Snakemake asks it first."""

from __future__ import annotations

from collections.abc import Iterator

import psutil
import pytest

from tests.conftest import lock, shared_folder

from .cluster import DAEMONS, Cluster, Unavailable, installed, running


@pytest.fixture(scope="package")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """SLURM's programs; installed if they must be, and then removed again. Other tests run no workflow meanwhile."""
    try:
        with lock(shared_folder(tmp_path_factory) / "workflows.lock"), installed():
            yield
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="package")
def cluster(slurm: None) -> Iterator[Cluster]:
    """A running SLURM of one node with two GPUs that do nothing."""
    with running() as cluster:
        yield cluster
    names = {process.info["name"] for process in psutil.process_iter(["name", "status"]) if not ended(process)}
    assert not names & {*DAEMONS, "slurmstepd"}


def ended(process: psutil.Process) -> bool:
    """Whether only its entry in the process table is left."""
    return process.info["status"] == psutil.STATUS_ZOMBIE
