"""Files that appear whole or not at all, and that hold numbers and text but never code.

Arrays are safetensors, metadata is JSON. Each file is written under a temporary name in its own
folder and renamed, so that an interrupted run leaves nothing that looks like a result.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .errors import InputError


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` on success, remove it on any error."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=target.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: str | Path, content: Any) -> None:
    """Write `content` as indented JSON with sorted keys; not-a-number values are refused."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2, sort_keys=True, allow_nan=False) + "\n")


def read_json(path: str | Path) -> Any:
    """Read a JSON file; a file that is no JSON is an error naming it."""
    try:
        return json.loads(Path(path).read_text())
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"file.{path}", f"is not valid JSON ({error})", "delete it and run again") from error


def write_rows(path: str | Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as csv, floats so that they read back equal; a column that a row lacks is empty in it."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with replacing(path) as temporary, temporary.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_arrays(path: str | Path, arrays: Mapping[str, np.ndarray], meta: Any = None) -> None:
    """Write named arrays and JSON-able metadata as one safetensors file."""
    from safetensors.numpy import save_file

    plain = {name: np.ascontiguousarray(value) for name, value in arrays.items()}
    with replacing(path) as temporary:
        save_file(plain, temporary, metadata={"cutlayer": json.dumps(meta, sort_keys=True)})


def read_arrays(path: str | Path) -> tuple[dict[str, np.ndarray], Any]:
    """Read back what `write_arrays` wrote: (arrays, meta); a damaged file is an error naming it."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            meta = json.loads((file.metadata() or {}).get("cutlayer", "null"))
            return {name: file.get_tensor(name) for name in file.keys()}, meta  # noqa: SIM118
    except SafetensorError as error:
        raise InputError(f"file.{path}", f"cannot be read ({error})", "delete it and run again") from error
