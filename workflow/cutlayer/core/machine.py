"""The machine of a run: processor and versions of packages."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path


def processor() -> str:
    """The processor's model name, as reported by the system."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def versions(*packages: str) -> str:
    """The versions of Python and the named packages."""
    return ", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in packages)])
