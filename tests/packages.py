"""Debian packages that tests may install, and that are gone after them."""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator

WAIT = "DPkg::Lock::Timeout=600"  # seconds, for another test that installs something


@contextlib.contextmanager
def at_the_end(action: Callable[[], object]) -> Iterator[None]:
    """Do it once: after the block, or when Python ends within it."""
    atexit.register(action)
    try:
        yield
    finally:
        atexit.unregister(action)
        action()


@contextlib.contextmanager
def added(*names: str) -> Iterator[bool]:
    """Install packages; whether that went well. Those that came are removed again."""
    before = _packages()
    with at_the_end(lambda: _apt("purge", *(_packages() - before))):
        yield _apt("install", *names) or (_apt("update") and _apt("install", *names))


def _apt(action: str, *names: str) -> bool:
    """Whether apt-get did it; without starting services, which RUNLEVEL=1 stands for."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    options = [] if action == "update" else ["--yes", "--no-install-recommends", "--no-auto-remove"]
    command = ["apt-get", "-o", WAIT, action, *options, *names]
    return subprocess.run(command, env=environment, capture_output=True).returncode == 0


def _packages() -> set[str]:
    query = ["dpkg-query", "--show", "--showformat=${Package}\n"]
    return set(subprocess.run(query, capture_output=True, text=True, check=True).stdout.split())
