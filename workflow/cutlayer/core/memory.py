"""malloc settings with which a process keeps freed memory for its next arrays.

A training step makes and frees arrays of megabytes. glibc returns each to the system, which clears the next one page
by page: up to 40% of a step on photographs (see `workflow/benchmarks/freed_memory.md`). Other C libraries ignore these
settings.
"""

from __future__ import annotations

import os

SETTINGS = {  # environment variable -> bytes
    "MALLOC_MMAP_THRESHOLD_": 2**30,  # size of an array that is mapped, and returned to the system
    "MALLOC_TRIM_THRESHOLD_": 2**31 - 1,  # free memory that is kept: the largest value allowed
}


def set_for_children() -> None:
    """Apply these malloc settings to child processes, unless the user has set them."""
    for name, size in SETTINGS.items():
        os.environ.setdefault(name, str(size))
