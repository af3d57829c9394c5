"""Files that appear whole or not at all, that know their checksum, and that hold numbers and text but never code.

Arrays are safetensors, metadata is JSON. Each file is written under a temporary name in its own
folder and renamed, so that an interrupted run leaves nothing that looks like a result; a changed byte is found
when the file is read.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .errors import InputError

CHECKSUM = "sha256"
REMEDY = "delete it and run again"


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


def write_json(path: str | Path, content: Mapping[str, Any]) -> None:
    """Write `content` and its checksum as indented JSON with sorted keys; not-a-number values are refused."""
    signed = {**content, CHECKSUM: _digest_of_json(content)}
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(signed, indent=2, sort_keys=True, allow_nan=False) + "\n")


def read_json(path: str | Path) -> dict[str, Any]:
    """Read back what `write_json` wrote; a damaged file is an error naming it."""
    try:
        content = json.loads(Path(path).read_text())
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"file.{path}", f"is not valid JSON ({error})", REMEDY) from error
    if not isinstance(content, dict) or content.pop(CHECKSUM, "") != _digest_of_json(content):
        raise InputError(f"file.{path}", "is not as it was written: its checksum differs", REMEDY)
    return content


def _digest_of_json(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, allow_nan=False).encode()).hexdigest()


def write_rows(path: str | Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as csv, floats so that they read back equal; a column that a row lacks is empty in it."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with replacing(path) as temporary, temporary.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_arrays(path: str | Path, arrays: Mapping[str, np.ndarray], meta: Any = None) -> None:
    """Write named arrays, JSON-able metadata and the checksum of both as one safetensors file."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    plain = {name: np.ascontiguousarray(value) for name, value in arrays.items()}
    signed = {"meta": meta, CHECKSUM: _digest(plain, meta)}
    with replacing(path) as temporary:
        try:  # one entry: the library writes several in any order
            save_file(plain, temporary, metadata={"cutlayer": json.dumps(signed, sort_keys=True)})
        except SafetensorError as error:
            raise _as_os_error(error, path) from error


def read_arrays(path: str | Path) -> tuple[dict[str, np.ndarray], Any]:
    """Read back what `write_arrays` wrote: (arrays, meta); a damaged file is an error naming it."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            signed = json.loads((file.metadata() or {}).get("cutlayer", "{}"))
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, json.JSONDecodeError) as error:
        raise InputError(f"file.{path}", f"cannot be read ({error})", REMEDY) from error
    if signed.get(CHECKSUM) != _digest(arrays, signed.get("meta")):
        raise InputError(f"file.{path}", "is not as it was written: its checksum differs", REMEDY)
    return arrays, signed["meta"]


def _digest(arrays: Mapping[str, np.ndarray], meta: Any) -> str:
    """Checksum of names, types, shapes, values and metadata."""
    digest = hashlib.sha256(json.dumps(meta, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        digest.update(array.data if array.size else b"")
    return digest.hexdigest()


def _as_os_error(error: Exception, path: str | Path) -> Exception:
    """A failed write as Python's own error; the library reports it as text."""
    number = re.search(r"os error (\d+)", str(error))
    return OSError(int(number[1]), os.strerror(int(number[1])), str(path)) if number else error
