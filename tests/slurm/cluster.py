"""A real SLURM of one node on this machine: started for the tests, gone after them."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

CONFIGURATION = Path("/etc/slurm")  # srun inside jobs looks nowhere else
OURS = "# A test cluster of cutlayer, to be removed.\n"
PACKAGES = ("slurm-wlm", "slurm-wlm-basic-plugins", "munge")
DAEMONS = ("munged", "slurmctld", "slurmd")
ENOUGH = 6000  # MB: two jobs and the largest retry of the tests
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
PartitionName=cpu Nodes=ALL Default=YES MaxTime=24:00:00 DefMemPerCPU=1000 State=UP
PartitionName=gpu Nodes=ALL MaxTime=24:00:00 DefMemPerCPU=1000 State=UP
"""
FILES = {
    "slurm.conf": SLURM_CONF,
    "gres.conf": "NodeName=localhost Name=gpu File=/dev/null\nNodeName=localhost Name=gpu File=/dev/zero\n",  # do nothing
    "cgroup.conf": "CgroupAutomount=no\n",
}


class Unavailable(Exception):
    """Why no SLURM can be started here."""


def ask(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


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


def eventually(what: str, true, seconds: float = 60) -> None:
    """Wait until `true()`."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.2)


class Cluster:
    """munged, slurmctld and slurmd as children of this process, which do not outlive it."""

    def __init__(self) -> None:
        self.daemons: list[subprocess.Popen[bytes]] = []
        self.installed: list[str] = []
        self.folder = Path()

    def start(self) -> None:
        self._check()
        atexit.register(self.stop)
        try:
            self._install()
            self._configure()
            for command in (
                f"munged --foreground --force --key-file={self.folder}/key "
                f"--socket={self.folder}/munge.socket --pid-file={self.folder}/munged.pid --seed-file={self.folder}/seed --log-file={self.folder}/munged.log",
                "slurmctld -D -c",
                "slurmd -D -N localhost",
            ):
                self._daemon(command)
            eventually("the node never became idle", lambda: self.nodes() == ["idle"])
        except BaseException:
            self.stop()
            raise

    def _check(self) -> None:
        if os.geteuid() != 0:
            raise Unavailable("starting a SLURM takes root")
        found = CONFIGURATION / "slurm.conf"
        if found.exists() and not found.read_text().startswith(OURS):
            raise Unavailable(f"{found} is there: this machine belongs to a real cluster")
        if memory() < ENOUGH:
            raise Unavailable(f"{memory()} MB of memory are not enough")

    def _install(self) -> None:
        if all(shutil.which(daemon) for daemon in DAEMONS):
            return
        if os.environ.get("CUTLAYER_INSTALL_SLURM") != "1":
            raise Unavailable(
                "SLURM is not installed, and CUTLAYER_INSTALL_SLURM=1, which lets the test do so, is not set"
            )
        if not shutil.which("apt-get"):
            raise Unavailable("SLURM is not installed and there is no apt-get")
        before = packages()
        quiet = {"env": os.environ | {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}, "capture_output": True}
        install = ["apt-get", "install", "--yes", "--no-install-recommends", *PACKAGES]
        failed = subprocess.run(install, **quiet).returncode and (
            subprocess.run(["apt-get", "update"], **quiet).returncode or subprocess.run(install, **quiet).returncode
        )
        self.installed = sorted(packages() - before)
        if failed:
            raise Unavailable("SLURM is not installed and apt-get cannot install it")

    def _configure(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="cutlayer-slurm-"))
        self.folder.chmod(0o755)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        (self.folder / "key").write_bytes(os.urandom(128))
        (self.folder / "key").chmod(0o400)
        values = {
            "folder": self.folder,
            "ports": free_ports(2),
            "cpus": len(os.sched_getaffinity(0)),
            "memory": memory() - 500,
        }
        CONFIGURATION.mkdir(exist_ok=True)
        for name, text in FILES.items():
            (CONFIGURATION / name).write_text(OURS + text.format(**values))

    def _daemon(self, command: str) -> None:
        def tie() -> None:
            ctypes.CDLL(None).prctl(DIES_WITH_PARENT, signal.SIGKILL)

        with (self.folder / "daemons.log").open("ab") as log:
            self.daemons.append(
                subprocess.Popen(command.split(), stdout=log, stderr=log, start_new_session=True, preexec_fn=tie)
            )

    def nodes(self) -> list[str]:
        """The state of the node."""
        done = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True)
        return done.stdout.split()

    def jobs(self, *states: str) -> list[dict[str, str]]:
        """Jobs, the oldest first: those in `states`, or all that ever were."""
        keys = ("JobID", "State", "Partition", "MinMemory", "TimeLimit", "tres-per-job", "Comment", "Restarts")
        fields = ",".join(f"{key}:|" for key in keys)
        lines = ask("squeue", "-h", "--states", ",".join(states) or "all", "--sort", "i", "-O", fields).splitlines()
        return [dict(zip(keys, line.split("|"), strict=False)) for line in lines]

    def active(self) -> list[dict[str, str]]:
        """Jobs that wait or run."""
        return self.jobs("PENDING", "RUNNING", "COMPLETING")

    def stop(self) -> None:
        """Cancel what runs, stop the daemons, remove every file and package that came with them."""
        atexit.unregister(self.stop)
        if len(self.daemons) == len(DAEMONS):
            with contextlib.suppress(subprocess.SubprocessError, TimeoutError):
                ask("scancel", "--user=root")
                eventually("jobs stay", lambda: not self.active(), 20)
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.daemons = []
        for name in FILES:
            file = CONFIGURATION / name
            if file.exists() and file.read_text().startswith(OURS):
                file.unlink()
        if self.folder.name:
            shutil.rmtree(self.folder, ignore_errors=True)
        if self.installed:
            subprocess.run(["apt-get", "purge", "--yes", *self.installed], capture_output=True)
            self.installed = []
        with contextlib.suppress(OSError):
            CONFIGURATION.rmdir()  # if it is empty


def packages() -> set[str]:
    """Debian packages that are installed here."""
    return set(ask("dpkg-query", "--show", "--showformat=${Package}\n").split())
