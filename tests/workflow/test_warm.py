"""A job that a warm process runs is the job: its output, status, environment and end are those of its own process."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from launch import warm

from .conftest import LONG, ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="jobs are forked on Linux only")
UP = "from launch.warm_client import up\nup()\n"


def library(folder: Path) -> str:
    """Where jobs find the modules that a test writes, then this library."""
    return os.pathsep.join([str(folder / "library"), str(ROOT / "workflow")])


@dataclass
class Warm:
    """A running server."""

    folder: Path
    process: subprocess.Popen[str]
    number: Iterator[int] = field(default_factory=itertools.count)

    def environment(self, **more: str) -> dict[str, str]:
        address = f"{self.folder}{os.pathsep}{sys.prefix}"
        return os.environ | {warm.ADDRESS: address, "PYTHONPATH": library(self.folder.parent)} | more

    def start(self, code: str, **more: str) -> subprocess.Popen[str]:
        script = self.folder.parent / f"script{next(self.number)}.py"
        script.write_text(UP + code)
        return subprocess.Popen(
            [sys.executable, script, "an argument"],
            env=self.environment(**more),
            cwd=self.folder.parent,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def call(self, code: str, **more: str) -> tuple[int, str, str]:
        process = self.start(code, **more)
        out, err = process.communicate(timeout=LONG)
        return process.returncode, out.strip(), err.strip()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Warm]:
    folder = tmp_path / "server"
    folder.mkdir()
    (tmp_path / "library").mkdir()
    command = [sys.executable, "-m", "launch.warm", str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": library(tmp_path)}
    ) as process:
        until(lambda: (folder / "socket").exists())
        yield Warm(folder, process)
        process.stdin.close()
        assert process.wait(LONG) == 0
    assert not folder.exists()


def until(happens, seconds: float = LONG) -> None:
    deadline = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_child_of_the_server_runs_the_script(server: Warm) -> None:
    show = "print(os.getppid(), os.getcwd(), sys.argv[1], os.environ['MARK'])"
    code = f"import os, sys\n{show}\nprint('said', file=sys.stderr)"
    status, out, err = server.call(code, MARK="marked")
    assert (status, err) == (0, "said")
    assert out == f"{server.process.pid} {server.folder.parent} an argument marked"


@pytest.mark.parametrize(
    ("end", "status", "said"),
    [
        ("import sys; sys.exit(3)", 3, ""),
        ("import sys; sys.exit('a sentence')", 1, "a sentence"),
        ("import sys; sys.exit()", 0, ""),
        ("raise ValueError('no')", 1, "ValueError: no"),
        ("import os; os._exit(7)", 7, ""),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 128 + 9, ""),
    ],
)
def test_its_end_is_the_jobs_end(end: str, status: int, said: str, server: Warm) -> None:
    found, _, err = server.call(end)
    assert found == status
    assert err.endswith(said)
    assert bool(err) == bool(said)


def test_a_killed_job_takes_its_child_with_it(server: Warm) -> None:
    job = server.start("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(10_000)")
    child = psutil.Process(int(job.stdout.readline()))
    job.kill()
    job.wait()
    assert not psutil.wait_procs([child], timeout=LONG)[1]
    assert server.call("print('goes on')") == (0, "goes on", "")


def test_the_workflows_end_ends_server_and_children(server: Warm) -> None:
    job = server.start("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(10_000)")
    child = psutil.Process(int(job.stdout.readline()))
    server.process.stdin.close()
    assert server.process.wait(LONG) == 0
    assert not psutil.wait_procs([child], timeout=LONG)[1]
    assert job.wait(LONG) != 0
    assert "the process that runs this workflow's jobs is gone" in job.stderr.read()


def test_many_jobs_at_once_do_not_mix(server: Warm) -> None:
    """Each waits until all have begun."""
    wait = "open('begun{0}', 'w').close()\nwhile len(glob.glob('begun*')) < 8:\n    time.sleep(0.01)"
    code = f"import glob, time\n{wait}\nprint({{0}})\nraise SystemExit({{0}})"
    jobs = [server.start(code.format(number)) for number in range(8)]
    for number, job in enumerate(jobs):
        out, _ = job.communicate(timeout=LONG)
        assert (job.returncode, out) == (number, f"{number}\n")


def test_what_jobs_import_is_imported_once(server: Warm) -> None:
    times = server.folder.parent / "imported"
    slow = f"import os\nopen({str(times)!r}, 'a').write(f'{{os.getpid()}}\\n')\n"
    (server.folder.parent / "library/slow.py").write_text(slow)
    code = "import sys\nprint('slow' in sys.modules)\n__import__('slow')"
    assert server.call(code)[1] == "False"
    until(lambda: len(times.read_text().split()) == 2)
    assert times.read_text().split()[1] == str(server.process.pid)
    assert server.call(code)[1] == "True"
    assert len(times.read_text().split()) == 2


def test_what_a_script_names_is_imported_before_its_first_job(server: Warm) -> None:
    """By the server, once, however many come at the same time; what cannot be imported is for the job to say."""
    times = server.folder.parent / "imported"
    slow = f"import os, time\nopen({str(times)!r}, 'a').write(f'{{os.getpid()}}\\n')\ntime.sleep(0.2)\nthing = 1\n"
    (server.folder.parent / "library/slow.py").write_text(slow)
    (server.folder.parent / "library/broken.py").write_text("raise OSError('broken')\n")
    jobs = [server.start("from slow import thing\nimport broken") for _ in range(3)]
    assert all("OSError: broken" in job.communicate(timeout=LONG)[1] for job in jobs)
    assert times.read_text().split() == [str(server.process.pid)]


SAYS = (
    "import sys\nprint('cutlayer.part' in sys.modules)\nfrom cutlayer import part, other\nprint(part.said, other.said)"
)


def parts(folder: Path, **said: str) -> str:
    """A library of this one's name; the path on which jobs find it."""
    package = folder / "cutlayer"
    package.mkdir(parents=True, exist_ok=True)
    for name, text in {"__init__": "", **{name: f"said = {text!r}\n" for name, text in said.items()}}.items():
        (package / f"{name}.py").write_text(text)
        os.utime(package / f"{name}.py", (1, 1))  # files are not as young as the server's reading of them
    return library(folder.parent)


def test_the_library_is_held_until_one_of_its_files_changes(server: Warm) -> None:
    folder = server.folder.parent / "library"
    parts(folder, part="one", other="two")
    for _ in range(2):
        assert server.call(SAYS)[1] == "True\none two"
    (folder / "cutlayer/other.py").write_text("said = 'edited'\n")
    for _ in range(2):
        assert server.call(SAYS)[1] == "False\none edited"
    (folder / "cutlayer/part.py").unlink()
    assert "cannot import name 'part'" in server.call(SAYS)[2]


def test_a_job_of_another_checkout_does_not_get_the_library_that_is_held(server: Warm) -> None:
    parts(server.folder.parent / "library", part="one", other="two")
    assert server.call(SAYS)[1] == "True\none two"
    elsewhere = server.folder.parent / "elsewhere"
    parts(elsewhere, part="three", other="four")
    assert (
        server.call(SAYS, PYTHONPATH=os.pathsep.join([str(elsewhere), str(ROOT / "workflow")]))[1]
        == "False\nthree four"
    )


@pytest.mark.parametrize("address", ["", "/nowhere", f"{{folder}}{os.pathsep}/another/environment"])
def test_without_its_server_a_job_runs_as_it_is(address: str, server: Warm) -> None:
    job = server.start("import os\nprint(os.getpid())", **{warm.ADDRESS: address.format(folder=server.folder)})
    out, _ = job.communicate(timeout=LONG)
    assert (job.returncode, int(out)) == (0, job.pid)


@pytest.mark.parametrize("folder", [".snakemake/scripts", "elsewhere"])
def test_jobs_of_a_workflow_are_handed_over_before_their_preamble(folder: str, server: Warm) -> None:
    """By the module that Python imports at its start, before anything of the script."""
    script = server.folder.parent / folder / "job.py"
    script.parent.mkdir(parents=True)
    script.write_text("import os\nprint(os.getpid())")
    environment = server.environment()
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "workflow/launch/job"), environment["PYTHONPATH"]])
    with subprocess.Popen([sys.executable, script], env=environment, text=True, stdout=subprocess.PIPE) as job:
        out, _ = job.communicate(timeout=30)
    assert (int(out) == job.pid) == (folder == "elsewhere")


@pytest.mark.parametrize("own", ["", "import os, sys\nsys.path.append('/own')\nos.environ['OWN'] = __file__\n"])
def test_the_environments_own_sitecustomize_runs_too(own: str, tmp_path: Path) -> None:
    path = [ROOT / "workflow/launch/job", ROOT / "workflow", tmp_path]
    (tmp_path / ("sitecustomize.py" if own else "other.py")).write_text(own)
    show = "import os, sys; print(os.environ.get('OWN'), sys.path[-1] == '/own')"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))}
    said = subprocess.check_output([sys.executable, "-c", show], env=environment, text=True)
    assert said.endswith(" True\n") == bool(own)
    assert (str(tmp_path) in said) == bool(own)


STARTED = """
import os, signal, sys, time
from launch import warm
warm.start()
folder = os.environ[warm.ADDRESS].partition(os.pathsep)[0]
while not os.path.exists(f"{folder}/socket") and warm._server.poll() is None:
    time.sleep(0.02)
print(os.path.exists(f"{folder}/socket"))
if "kill" in sys.argv:
    warm._server.kill()
    while os.path.exists(folder):
        time.sleep(0.02)
print(folder)
"""


def started(temporary: Path, *arguments: str) -> tuple[str, Path, str]:
    """Whether the server that a workflow starts has its socket, its folder, and what was said."""
    done = subprocess.run(
        [sys.executable, "-c", STARTED, *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT / "workflow"), "TMPDIR": str(temporary)},
        text=True,
        capture_output=True,
        check=True,
    )
    socket, folder = done.stdout.split()
    return socket, Path(folder), done.stderr


def test_a_long_name_of_the_temporary_folder_is_no_hindrance(tmp_path: Path) -> None:
    long = tmp_path / ("long" * 30)
    long.mkdir()
    socket, folder, said = started(long)
    assert (socket, said) == ("True", "")
    until(lambda: not folder.exists())
    assert not [*long.iterdir()]


def test_a_server_that_dies_says_so_once_and_leaves_nothing(tmp_path: Path) -> None:
    said = started(tmp_path, "kill")[2]
    assert said.splitlines() == [
        "The server that imports modules for jobs ended (exit status -9); they go on without it, slower."
    ]
    assert not [*tmp_path.iterdir()]


def test_a_server_that_is_gone_is_no_server(server: Warm) -> None:
    """Its socket may be left."""
    server.process.kill()
    server.process.wait()
    assert (server.folder / "socket").exists()
    job = server.start("import os\nprint(os.getpid())")
    out, _ = job.communicate(timeout=LONG)
    assert (job.returncode, int(out)) == (0, job.pid)
    (server.folder / "socket").unlink()
    server.folder.rmdir()
    server.process.returncode = 0
