"""Environment of jobs: the library on their path, the warm server's socket, one thread each, the data mirror."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cutlayer.core.errors import InputError

OWN = {"MPLBACKEND": "agg", "PYTHONUTF8": "1"}  # whatever shell, notebook or locale Snakemake was started from
PATIENCE = 5.0  # seconds
NAMED = 20  # files at most that an error names
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
REMEMBERED = 240  # seconds: the plugin looks every 180 s at least


def gpus(limit: int | None) -> int:
    """Number of GPUs that jobs may use: the user's `limit`, passed to jobs on a cluster by their environment."""
    if limit is not None:
        os.environ["CUTLAYER_GPUS"] = str(limit)
    return int(os.environ.get("CUTLAYER_GPUS", 0))


def check(executor: str, settings: Any) -> None:
    """Raise InputError unless SLURM, if it is the executor, accepts jobs and reports their end.

    Without accounting `sacct` may be installed and answer nothing: then the plugin is set to ask `squeue`.
    """
    if executor != "slurm":
        return
    if not shutil.which("sbatch"):
        expected = "start it on a login node of the cluster, or without the profile"
        raise InputError("executor.slurm", "there is no sbatch on PATH", expected)
    from snakemake_executor_plugin_slurm.job_status_query import get_min_job_age, query_job_status_sacct

    if not _answered(query_job_status_sacct("any")):
        _ask_squeue(settings, get_min_job_age())


def _answered(command: str) -> bool:
    """True if a query succeeds within the time that the plugin allows."""
    try:
        return not subprocess.run(shlex.split(command), capture_output=True, timeout=60).returncode
    except (OSError, subprocess.TimeoutExpired):
        return False


def _ask_squeue(settings: Any, age: int | None) -> None:
    """Set the plugin to ask `squeue`, which knows a job for MinJobAge after its end; if that is short, it would not."""
    needed = max(REMEMBERED, 3 * settings.init_seconds_before_status_checks)
    if age is None or age < needed:
        wrong = f"sacct does not answer (no accounting), and squeue forgets ended jobs (MinJobAge in slurm.conf: {age})"
        raise InputError("executor.slurm", wrong, f"expected accounting, or {needed} s or more")
    settings.status_command = "squeue"
    print("executor.slurm: sacct does not answer (no accounting): squeue reports which jobs ended", file=sys.stderr)


def check_times(files: Iterable[str]) -> None:
    """Raise InputError if a file is dated in the future: Snakemake would discard outputs made from it as outdated.

    Wait if it is only a moment ahead: clocks of file systems differ a little from that of this machine.
    """
    now = time.time()
    times = {file: os.lstat(file).st_mtime for file in files if os.path.lexists(file)}
    if late := sorted(file for file in times if times[file] > now + PATIENCE):
        wrong = "is of a time to come" + f", as are {len(late) - 1} more" * (len(late) > 1)
        named = shlex.join(late[:NAMED]) + " ..." * (len(late) > NAMED)
        raise InputError(f"file.{late[0]}", wrong, f"unless the clock is wrong, `touch {named}`")
    time.sleep(max([now, *times.values()]) - now)


def prepare(mirror: str) -> str:
    """Set the environment of all jobs; return the mirror: the user's CUTLAYER_MIRROR, else `mirror`."""
    folder = Path(__file__).parent
    paths = [str(folder / "job"), str(folder.parent), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    os.environ.update(dict.fromkeys(THREADS, "1"))
    os.environ.update(OWN)
    os.environ["CUTLAYER_MIRROR"] = os.path.expanduser(os.environ.get("CUTLAYER_MIRROR") or mirror)
    return os.environ["CUTLAYER_MIRROR"]
