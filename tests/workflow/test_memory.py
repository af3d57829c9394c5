"""Freed memory is kept for the next array by jobs."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from cutlayer.core.memory import SETTINGS, set_for_children

from .conftest import LONG

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library has no such settings")
PAGES = 20 * 2**14  # of what the steps below take in all, 64 MB each
STEPS = """
import resource
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
size = 2**26
b"1" * size
before = faults()
for step in range(20):
    b"1" * size
print(faults() - before)
"""


def faults(**more: str) -> int:
    """Pages that the system gave to a process of its own in its steps."""
    plain = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    command = [sys.executable, "-c", STEPS]
    done = subprocess.run(command, env=plain | more, capture_output=True, text=True, timeout=LONG, check=True)
    return int(done.stdout)


def test_without_the_settings_every_step_asks_the_system_anew() -> None:
    assert faults() > PAGES / 2


def test_jobs_keep_what_they_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SETTINGS:
        monkeypatch.setenv(name, "")  # so that it is put back
        monkeypatch.delenv(name)
    set_for_children()
    assert faults(**{name: os.environ[name] for name in SETTINGS}) < PAGES / 100


def test_who_has_settings_of_their_own_keeps_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SETTINGS:
        monkeypatch.setenv(name, "4096")
    set_for_children()
    assert {os.environ[name] for name in SETTINGS} == {"4096"}
