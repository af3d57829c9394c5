"""memory: what a process lets go of, it keeps for its next array.

A training step makes and drops arrays of megabytes. glibc gives each back to the system, which clears the next one page
by page: up to 40% of a step on photographs (see `workflow/benchmarks/freed_memory.md`). Other C libraries know nothing
of these settings, and go on as they are.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress

SETTINGS = {  # as in the environment of a process that starts -> the parameter of mallopt(3) in one that runs, bytes
    "MALLOC_MMAP_THRESHOLD_": (-3, 2**30),  # of an array that the system is asked for, and gets back
    "MALLOC_TRIM_THRESHOLD_": (-1, 2**31 - 1),  # that are kept: the most it takes
}


def inherited() -> None:
    """Set so what this process starts, where the user has not said otherwise."""
    for name, (_, size) in SETTINGS.items():
        os.environ.setdefault(name, str(size))


def keep_freed() -> None:
    """Set this process so."""
    with suppress(AttributeError, OSError, TypeError):  # another C library, or none that can be asked
        mallopt = ctypes.CDLL(None).mallopt
        for parameter, size in SETTINGS.values():
            mallopt(parameter, size)
