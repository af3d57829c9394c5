"""A real SLURM of one node on this machine: started for the tests, gone after them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil

from tests.packages import added, at_the_end

CONFIGURATION = Path("/etc/slurm")  # srun inside jobs looks nowhere else
OURS = "# A test cluster of cutlayer, to be removed.\n"
PACKAGES = ("slurm-wlm", "slurm-wlm-basic-plugins", "munge")
DAEMONS = ("munged", "slurmctld", "slurmd")
ENOUGH = 6000  # MB: two jobs and the largest retry of the tests
ENDLESS = 1800  # seconds that nothing takes, however busy the machine
DIES_WITH_PARENT = 1  # prctl's PR_SET_PDEATHSIG

SLURM_CONF = """
ClusterName=cutlayer
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
ReturnToService=2
MpiDefault=none
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0,defer_batch
GresTypes=gpu
JobCompType=jobcomp/none
MinJobAge=3600
KillWait=2
InactiveLimit=0
NodeName=localhost NodeAddr=127.0.0.1 CPUs={cpus} Boards=1 SocketsPerBoard=1 CoresPerSocket={cpus} ThreadsPerCore=1 \
RealMemory={memory} Gres=gpu:2 State=UNKNOWN
PartitionName=normal Nodes=ALL Default=YES MaxTime=24:00:00 DefMemPerCPU=1000 State=UP
PartitionName=accelerated Nodes=ALL MaxTime=24:00:00 DefMemPerCPU=1000 State=UP
"""
FILES = {
    "slurm.conf": SLURM_CONF,
    "gres.conf": "".join(f"NodeName=localhost Name=gpu File=/dev/{file}\n" for file in ("null", "zero")),  # two, fake
    "cgroup.conf": "CgroupAutomount=no\n",
}


class Job(NamedTuple):
    """A job, by the names that squeue has for these."""

    JobID: str
    State: str
    Partition: str
    MinMemory: str
    TimeLimit: str
    tres_per_job: str
    Comment: str


class Unavailable(Exception):
    """Why no SLURM can be started here."""


def ask(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=ENDLESS).stdout


def memory() -> int:
    """MB of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20


def free_ports(count: int) -> list[int]:
    """Ports that nothing listens on."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def eventually(what: str, true, seconds: float = ENDLESS) -> None:
    """Wait until `true()`."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.2)


@contextlib.contextmanager
def installed() -> Iterator[None]:
    """SLURM's programs; those that had to be installed are removed again.

    Raises:
        Unavailable: why they cannot be used here.

    """
    if os.environ.get("CUTLAYER_INSTALL_SLURM") != "1":
        raise Unavailable("the tests of SLURM are for who asks: CUTLAYER_INSTALL_SLURM=1 also installs it")
    _check()
    if all(shutil.which(daemon) for daemon in DAEMONS):
        yield
        return
    if not shutil.which("apt-get"):
        raise Unavailable("SLURM is not installed and there is no apt-get")
    with added(*PACKAGES) as done:
        if not done:
            raise Unavailable("SLURM is not installed and apt-get cannot install it")
        yield


def _check() -> None:
    if os.geteuid() != 0:
        raise Unavailable("starting a SLURM takes root")
    found = CONFIGURATION / "slurm.conf"
    if found.exists() and not found.read_text().startswith(OURS):
        raise Unavailable(f"{found} is there: this machine belongs to a real cluster")
    if found.exists() and subprocess.run(["sinfo"], capture_output=True).returncode == 0:
        raise Unavailable("another test runs a SLURM on this machine")
    if memory() < ENOUGH:
        raise Unavailable(f"{memory()} MB of memory are not enough")


@contextlib.contextmanager
def running() -> Iterator[Cluster]:
    """A cluster whose node is ready; stopped, and its files removed, at the end."""
    cluster = Cluster(Path(tempfile.mkdtemp(prefix="cutlayer-slurm-")))
    with at_the_end(cluster.stop):
        cluster.start()
        yield cluster


class Cluster:
    """munged, slurmctld and slurmd as children of this process, which do not outlive it, and what they are asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.daemons: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        self._configure()
        files = {"key-file": "key", "socket": "munge.socket", "pid-file": "munged.pid", "seed-file": "seed"}
        options = [f"--{option}={self.folder / file}" for option, file in files.items()]
        self._daemon("munged", "--foreground", "--force", f"--log-file={self.folder}/munged.log", *options)
        self._daemon("slurmctld", "-D", "-c")
        self._daemon("slurmd", "-D", "-N", "localhost")
        eventually("the node never became idle", lambda: self.nodes() == ["idle"])

    def _configure(self) -> None:
        self.folder.chmod(0o755)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        (self.folder / "key").write_bytes(os.urandom(128))
        (self.folder / "key").chmod(0o400)
        machine = {"cpus": len(os.sched_getaffinity(0)), "memory": memory() - 500}
        CONFIGURATION.mkdir(exist_ok=True)
        for name, text in FILES.items():
            (CONFIGURATION / name).write_text(OURS + text.format(folder=self.folder, ports=free_ports(2), **machine))

    def _daemon(self, *command: str) -> None:
        def tie() -> None:
            ctypes.CDLL(None).prctl(DIES_WITH_PARENT, signal.SIGKILL)

        with (self.folder / "daemons.log").open("ab") as log:
            daemon = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, preexec_fn=tie)
        self.daemons.append(daemon)

    def nodes(self) -> list[str]:
        """The state of the node; empty as long as nothing answers."""
        return subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True).stdout.split()

    def jobs(self, *states: str) -> list[Job]:
        """Jobs, the oldest first: those in `states`, or all that ever were."""
        fields = ",".join(f"{field}:|" for field in Job._fields).replace("_", "-")
        lines = ask("squeue", "-h", "--states", ",".join(states) or "all", "--sort", "i", "-O", fields).splitlines()
        return [Job(*line.split("|")[:-1]) for line in lines]

    def active(self) -> list[Job]:
        """Jobs that wait or run."""
        return self.jobs("PENDING", "RUNNING", "SUSPENDED", "COMPLETING")

    def halted(self, comment: str) -> bool:
        """Stop every process of the jobs that run and have this in their comment; whether there were any.

        Not by `scontrol suspend`: SLURM does not end what it suspends while it starts it.
        """
        jobs = {job.JobID for job in self.jobs("RUNNING") if comment in job.Comment}
        processes = psutil.process_iter(["environ"])
        found = [each for each in processes if (each.info["environ"] or {}).get("SLURM_JOB_ID") in jobs]
        for process in found:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.suspend()
        return bool(found)

    def cancel(self) -> None:
        """End all jobs, as a user does."""
        ask("scancel", "--user=root")
        eventually("canceled jobs stay", lambda: not self.active())

    def stop(self) -> None:
        """Cancel what runs, stop the daemons, remove every file."""
        with contextlib.suppress(subprocess.SubprocessError, TimeoutError):
            if self.nodes():
                self.cancel()
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(60)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        for file in (CONFIGURATION / name for name in FILES):
            if file.exists() and file.read_text().startswith(OURS):
                file.unlink()
        shutil.rmtree(self.folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            CONFIGURATION.rmdir()  # if nothing else is there
