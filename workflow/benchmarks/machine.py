"""What a benchmark ran on, in one line."""

from __future__ import annotations

import os
import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path


def machine(*packages: str) -> str:
    """Date, processor, cores, and the versions of Python and the named packages."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return f"{date.today()}, {processor()}, {os.cpu_count()} cores; Python {platform.python_version()}, {versions}."


def processor() -> str:
    """The processor's model, as the system names it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
