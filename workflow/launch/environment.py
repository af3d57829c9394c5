"""What jobs inherit: the library on their path, the way to the warm server, one thread each, where raw data lie."""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

from cutlayer.core.errors import InputError

OWN = {"MPLBACKEND": "agg", "PYTHONUTF8": "1"}  # whatever shell, notebook or locale Snakemake was started from
PATIENCE = 5.0  # seconds
NAMED = 20  # files at most that an error names
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def gpus(limit: int | None) -> int:
    """How many GPUs jobs may use: the `limit` of the user, which a job on a cluster is told by its environment."""
    if limit is not None:
        os.environ["CUTLAYER_GPUS"] = str(limit)
    return int(os.environ.get("CUTLAYER_GPUS", 0))


def check(executor: str) -> None:
    """Raise unless the program is here with which this executor hands on its jobs.

    Without it the plugin of SLURM says so again and again, and does not end.
    """
    if executor == "slurm" and not shutil.which("sbatch"):
        meant = "start it on a login node of the cluster, or without the profile"
        raise InputError("executor.slurm", "there is no sbatch on PATH", meant)


def check_times(files: Iterable[str]) -> None:
    """Raise if a file is of a time to come: Snakemake would throw away what a job makes of it, as older than it is.

    If it comes soon, wait for it: clocks of file systems differ a little from that of this machine.
    """
    now = time.time()
    times = {file: os.lstat(file).st_mtime for file in files if os.path.lexists(file)}
    if late := sorted(file for file in times if times[file] > now + PATIENCE):
        wrong = "is of a time to come" + f", as are {len(late) - 1} more" * (len(late) > 1)
        named = shlex.join(late[:NAMED]) + " ..." * (len(late) > NAMED)
        raise InputError(f"file.{late[0]}", wrong, f"unless the clock is wrong, `touch {named}`")
    time.sleep(max([now, *times.values()]) - now)


def prepare(mirror: str) -> str:
    """Set the environment of all jobs; return the mirror, the user's CUTLAYER_MIRROR before `mirror`."""
    folder = Path(__file__).parent
    paths = [str(folder / "job"), str(folder.parent), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    os.environ.update(dict.fromkeys(THREADS, "1"))
    os.environ.update(OWN)
    os.environ["CUTLAYER_MIRROR"] = os.path.expanduser(os.environ.get("CUTLAYER_MIRROR") or mirror)
    return os.environ["CUTLAYER_MIRROR"]
