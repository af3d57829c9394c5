"""Names the code files that have changed since the last run: Snakemake's reasons show checksums only."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path

from cutlayer.core.errors import few
from cutlayer.core.files import replacing
from cutlayer.plan import code

from .processes import STATE

RECORD = STATE / "cutlayer.code.json"  # file -> checksum, of all code that finished runs depend on


def report() -> None:
    """Print the files whose code has changed since the last run that finished; nothing if there was none."""
    if changed := [file for file, checksum in _recorded().items() if checksum != _checksum(file)]:
        print(f"Changed since the last run: {few(changed)}", file=sys.stderr)


def keep() -> None:
    """Record the checksums of the code that this run's jobs depend on."""
    current = {os.path.relpath(file): checksum for file, checksum in code.digested.items()}
    kept = {file: checksum for file, checksum in (_recorded() | current).items() if Path(file).exists()}
    with contextlib.suppress(OSError), replacing(RECORD) as temporary:
        temporary.write_text(json.dumps(kept, indent=1, sort_keys=True), encoding="utf-8")


def _recorded() -> dict[str, str]:
    with contextlib.suppress(OSError, ValueError):
        return {str(file): str(checksum) for file, checksum in json.loads(RECORD.read_text(encoding="utf-8")).items()}
    return {}


def _checksum(file: str) -> str:
    try:
        return code.checksum(os.path.abspath(file))
    except (OSError, SyntaxError):
        return ""
