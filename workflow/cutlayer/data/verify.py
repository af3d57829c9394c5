"""`make verify`: reads every file that has a checksum, raw data and artifacts, and names those that changed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cutlayer.core.artifacts import check_arrays, read_json
from cutlayer.core.errors import InputError
from cutlayer.core.progress import steps

from .acquire import verified
from .sources import read_sources

READERS: dict[str, Callable[[Path], Any]] = {".safetensors": check_arrays, ".json": read_json}


def damaged(folder: str | Path) -> Iterator[str]:
    """Sentences on damaged raw data, normalised data and runs of the workflow in `folder`, one per file."""
    root = Path(folder)
    raw = {root / "data/raw" / row.dataset / row.file: row for row in read_sources(root / "data/sources.csv")}
    checks: list[tuple[Callable[[Path], Any], Path]] = [
        (lambda path, row=row: verified(path, row, str(path)), path)  # type: ignore[misc]
        for path, row in raw.items()
        if row.sha256 and path.is_file()
    ]
    for place in ("data/normalised", "results/runs"):
        checks += [
            (READERS[path.suffix], path) for path in sorted((root / place).rglob("[!.]*")) if path.suffix in READERS
        ]
    for check, path in steps(checks, "verify"):
        try:
            check(path)
        except InputError as error:
            yield str(error)


if __name__ == "__main__":
    found = list(damaged("."))
    for line in found:
        print(f"error: {line}", file=sys.stderr)
    print(f"{len(found)} damaged files")
    sys.exit(bool(found))
