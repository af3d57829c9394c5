"""Library modules that the warm server keeps imported for its children while their files stay unchanged."""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder

LIBRARY = "cutlayer"
Signature = tuple[int, int, int]
_read: dict[str, tuple[str, Signature | None]] = {}  # module -> its file, and how that was when it was read


def note(began: int) -> None:
    """Record the files of new modules; those written since `began` (ns) may have been read in an older state."""
    for name, module in list(sys.modules.items()):
        if _ours(name) and name not in _read and (file := getattr(module, "__file__", None)):
            now = _signature(file)
            _read[name] = (file, now if now and now[0] < began else None)


def drop_changed() -> None:
    """In a child: drop all modules if one has changed, or if the job belongs to another checkout."""
    if any(how is None or how != _signature(file) for file, how in _read.values()) or _elsewhere():
        for name in [name for name in sys.modules if _ours(name)]:
            del sys.modules[name]


def _ours(name: str) -> bool:
    return name.partition(".")[0] == LIBRARY


def _signature(file: str) -> Signature | None:
    try:
        now = os.stat(file)
    except OSError:
        return None
    return now.st_mtime_ns, now.st_size, now.st_ino


def _elsewhere() -> bool:
    held, found = sys.modules.get(LIBRARY), PathFinder.find_spec(LIBRARY)
    return bool(held and found and found.origin != held.__file__)
