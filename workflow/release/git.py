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


def content(root: Path, revision: str, file: str) -> str | None:
    """A file as it is in a commit; None where it is not, or is no text."""
    done = _run(root, "show", f"{revision}:{file}")
    try:
        return None if done.returncode else done.stdout.decode()
    except UnicodeDecodeError:
        return None


def archive(root: Path, *paths: str) -> bytes:
    """A tar of these paths as they are in the last commit."""
    done = _run(root, "archive", "--format=tar", "HEAD", "--", *paths)
    if done.returncode:
        raise InputError("release.git", done.stderr.decode().strip(), f"a commit with {', '.join(paths)} is meant")
    return done.stdout


def _run(root: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False)
