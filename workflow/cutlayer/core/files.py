"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` on success, remove it on any error.

    What a killed writer of the same file left is removed; a file has one writer at a time.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{target.name}."
    for left in target.parent.iterdir():
        if left.name.startswith(prefix):
            left.unlink(missing_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=prefix, suffix=target.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
