"""Line that describes the machine of a benchmark."""

from __future__ import annotations

import os
from datetime import date

from cutlayer.core.machine import processor, versions


def machine(*packages: str) -> str:
    """Date, processor, cores, and the versions of Python and the named packages."""
    return f"{date.today()}, {processor()}, {os.cpu_count()} cores; {versions(*packages)}."
