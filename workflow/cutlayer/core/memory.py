"""malloc settings with which a process keeps freed memory for its next arrays.

A training step makes and frees arrays of megabytes. glibc returns each to the system, which clears the next one page
by page: up to 40% of a step on photographs (see `workflow/benchmarks/freed_memory.md`). Other C libraries ignore these
settings.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress

SETTINGS = {  # environment variable of a new process -> parameter of mallopt(3) in a running one, bytes
    "MALLOC_MMAP_THRESHOLD_": (-3, 2**30),  # size of an array that is mapped, and returned to the system
    "MALLOC_TRIM_THRESHOLD_": (-1, 2**31 - 1),  # free memory that is kept: the largest value allowed
}


def set_for_children() -> None:
    """Apply these malloc settings to child processes, unless the user has set them."""
    for name, (_, size) in SETTINGS.items():
        os.environ.setdefault(name, str(size))


def keep_freed() -> None:
    """Apply these malloc settings to this process."""
    with suppress(AttributeError, OSError, TypeError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        for parameter, size in SETTINGS.values():
            mallopt(parameter, size)
