"""The project is clean: formatters, linters and the type checker have nothing to say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMANDS = ["mypy", "snakemake --lint", "snakefmt --check Snakefile rules", "ruff check", "ruff format --check"]


@pytest.mark.parametrize("command", COMMANDS)
def test_clean(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command.split()], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
