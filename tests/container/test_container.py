"""The Dockerfile builds, and its image passes the basic test without data and without a network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import pytest

from tests.packages import added

ROOT = Path(__file__).parents[2]
PACKAGES = ("buildah", "crun", "mmdebstrap")
CHROOT = ("--isolation", "chroot")  # no limits, no namespaces: it builds inside of another container, too
ROOM = 20  # GB: while buildah commits it, an image with torch for CUDA is there three times
REACHED = ("cert", "constraint", "extra-index-url", "find-links", "index-url", "timeout")  # settings of pip


@pytest.fixture
def storage() -> Iterator[list[str]]:
    """Buildah with images of its own, which are gone after the test."""
    if os.environ.get("CUTLAYER_BUILD_CONTAINER") != "1":
        pytest.skip("it takes minutes and gigabytes: CUTLAYER_BUILD_CONTAINER=1 builds, and installs what builds")
    if os.geteuid():
        pytest.skip("only root may install buildah")
    free = shutil.disk_usage(gettempdir()).free / 1e9
    if free < ROOM:
        pytest.skip(f"the image takes {ROOM} GB while it is built, and {free:.0f} are free")
    with added(*PACKAGES) as there, TemporaryDirectory() as folder:
        if not there:
            pytest.skip(f"{', '.join(PACKAGES)} cannot be installed")
        own = ["buildah", "--root", f"{folder}/root", "--runroot", f"{folder}/runroot"]
        yield own
        call(own, "rm", "--all")


def call(buildah: list[str], *arguments: str) -> str:
    """What a command of buildah printed."""
    done = subprocess.run([*buildah, *arguments], cwd=ROOT, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout.strip()


def base(buildah: list[str], name: str, folder: Path) -> None:
    """A Debian from the packages that apt reaches, under the name that the Dockerfile has: no registry is asked."""
    archive = folder / "base.tar"
    done = subprocess.run(
        ["mmdebstrap", "--variant=minbase", "--include=ca-certificates", re.split("[:-]", name)[1], str(archive)],
        text=True, capture_output=True, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"no base image can be made: {done.stderr[-300:]}")
    scratch = call(buildah, "from", "scratch")
    call(buildah, "add", "--quiet", scratch, str(archive), "/")
    call(buildah, "commit", "--quiet", "--rm", scratch, f"localhost/{name}")
    archive.unlink()


def this_machines_pip() -> list[str]:
    """How pip reaches packages here, as options: its settings as variables, and the files that they name."""
    own = {key: value for key, value in os.environ.items() if key != "PIP_CONFIG_FILE"}
    told = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], env=own, text=True, capture_output=True, check=True
    )
    settings = dict(re.findall(r"^(?:global|:env:)\.([\w-]+)='(.*)'$", told.stdout, flags=re.M))
    found = {f"PIP_{key.upper().replace('-', '_')}": settings[key] for key in REACHED if key in settings}
    found |= {key: value for key, value in own.items() if key.lower().endswith("_proxy")}
    named = {word.removeprefix("file://") for value in found.values() for word in value.split()}
    places = {place for place in map(Path, named) if place.is_absolute() and place.exists()}
    return [
        *(f"--env={key}={value}" for key, value in found.items()),
        *(f"--volume={place.resolve()}:{place}:ro" for place in sorted(places)),
    ]


def test_the_image_builds_and_passes_the_basic_test(storage: list[str], tmp_path: Path) -> None:
    (name,) = re.findall(r"^FROM (\S+)$", (ROOT / "Dockerfile").read_text(), flags=re.M)
    base(storage, name, tmp_path)
    call(storage, "build", *CHROOT, "--pull-never", "--quiet", *this_machines_pip(), "--tag", "cutlayer", ".")
    container = call(storage, "from", *CHROOT, "--pull-never", "cutlayer")
    inside = ["unshare", "--net", *storage, "run", *CHROOT, container, "--"]
    done = subprocess.run([*inside, "make", "kick"], text=True, capture_output=True, check=False)
    assert done.stdout.split()[-1:] == ["agrees"], done.stdout[-2000:] + done.stderr[-2000:]
