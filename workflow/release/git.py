"""What git says of a checkout."""

from __future__ import annotations

import subprocess
from pathlib import Path

from cutlayer.core.errors import InputError


def told(root: Path, *arguments: str) -> str:
    """The output of a git command; an error if it fails."""
    done = _run(root, *arguments)
    if done.returncode:
        wrong = done.stderr.decode().strip() or f"git {arguments[0]} failed"
        raise InputError("release.git", wrong, "a git repository is meant")
    return done.stdout.decode()


def holds(root: Path, *arguments: str) -> bool:
    """Whether a command that asks a question succeeds."""
    return _run(root, *arguments).returncode == 0


def commit(root: Path, name: str) -> str:
    """The commit that a name stands for; empty where there is none."""
    done = _run(root, "rev-parse", "--quiet", "--verify", f"{name}^{{commit}}")
    return done.stdout.decode().strip()


def archive(root: Path, *paths: str, revision: str = "HEAD") -> bytes:
    """A tar of these paths as they are in a commit, the last one if none is named."""
    done = _run(root, "archive", "--format=tar", revision, "--", *paths)
    if done.returncode:
        raise InputError("release.git", done.stderr.decode().strip(), f"a commit with {', '.join(paths)} is meant")
    return done.stdout


def _run(root: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False)
