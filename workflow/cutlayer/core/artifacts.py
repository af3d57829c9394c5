"""Files that appear whole or not at all, that know their checksum, and that hold numbers and text but never code.

Arrays are safetensors, metadata is JSON. Each file is written under a temporary name in its own
folder and renamed, so that an interrupted run leaves nothing that looks like a result; a changed byte is found
when the file is read.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from .errors import InputError
from .files import replacing

CHECKSUM = "sha256"
SIGNED = "cutlayer"  # the one entry of a safetensors file's own metadata
TYPES = {  # safetensors' names and numpy's
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip
REMEDY = "delete it and run again"


def write_json(path: str | Path, content: Mapping[str, Any]) -> None:
    """Write `content` and its checksum as indented JSON with sorted keys; not-a-number values are refused."""
    signed = {**content, CHECKSUM: _digest_of_json(content)}
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(signed, indent=2, sort_keys=True, allow_nan=False) + "\n", encoding="utf-8")


def read_json(path: str | Path) -> dict[str, Any]:
    """Read back what `write_json` wrote; a damaged file is an error naming it."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
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
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def join_rows(parts: Sequence[str | Path], path: str | Path) -> None:
    """Write as one table what `write_rows` wrote as several: the same file as if it had been given all rows."""
    rows: list[dict[str, str]] = []
    for part in parts:
        with Path(part).open(newline="", encoding="utf-8") as file:
            rows += csv.DictReader(file)
    write_rows(path, rows)


def write_arrays(path: str | Path, arrays: Mapping[str, np.ndarray], meta: Any = None) -> None:
    """Write named arrays, JSON-able metadata and the checksum of both as one safetensors file."""
    plain = {name: np.asarray(value, order="C") for name, value in arrays.items()}  # a scalar stays one
    with replacing(path) as temporary:
        try:  # one entry: the library writes several in any order
            save_file(plain, temporary, metadata={SIGNED: signature(_sums(plain), meta)})
        except SafetensorError as error:
            raise _as_os_error(error, path) from error


def read_arrays(path: str | Path) -> tuple[dict[str, np.ndarray], Any]:
    """Read back what `write_arrays` wrote: (arrays, meta); a damaged file is an error naming it."""
    mapped, signed = _mapped(path)
    arrays = {name: array.copy() for name, array in mapped.items()}
    return arrays, _checked(path, arrays, signed)


def map_arrays(path: str | Path) -> tuple[dict[str, np.ndarray], Any]:
    """The same, of a file too large to be read at once: its rows are read when they are used, and never checked."""
    mapped, signed = _mapped(path)
    return mapped, signed.get("meta")


def check_arrays(path: str | Path) -> None:
    """Raise unless the file is as it was written; its size does not matter."""
    _checked(path, *_mapped(path))


def checksum(path: str | Path) -> str:
    """The checksum that a file of arrays says it has; the arrays are not read."""
    return str(_mapped(path)[1].get(CHECKSUM))


def _mapped(path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays, each a part of the file mapped into memory, and what is signed; a file cut short is an error."""
    try:
        with safe_open(path, framework="numpy") as file:  # it checks the places against the file's size
            signed = json.loads((file.metadata() or {}).get(SIGNED, "{}"))
        with Path(path).open("rb") as raw:
            size = int.from_bytes(raw.read(8), "little")
            entries = json.loads(raw.read(size))
    except (SafetensorError, ValueError) as error:
        raise InputError(f"file.{path}", f"cannot be read ({error})", REMEDY) from error
    data = np.asarray(np.memmap(path, np.uint8, "r"))[8 + size :]
    arrays = {
        name: data[slice(*entry["data_offsets"])].view(TYPES[entry["dtype"]]).reshape(entry["shape"])
        for name, entry in entries.items()
        if name != "__metadata__"
    }
    return arrays, signed


def _checked(path: str | Path, arrays: Mapping[str, np.ndarray], signed: Mapping[str, Any]) -> Any:
    """The metadata, after a look at the checksum."""
    meta = signed.get("meta")
    if signed.get(CHECKSUM) != _digest(_sums(arrays), meta):
        raise InputError(f"file.{path}", "is not as it was written: its checksum differs", REMEDY)
    return meta


def _sums(arrays: Mapping[str, np.ndarray]) -> dict[str, list[Any]]:
    """Type, shape and checksum of each array."""
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    sums = {name: hashlib.sha256(array.data if array.size else b"").hexdigest() for name, array in plain.items()}
    return {name: [array.dtype.str, list(array.shape), sums[name]] for name, array in plain.items()}


def signature(sums: Mapping[str, Any], meta: Any) -> str:
    """What a file says of itself: its metadata and a checksum of them and of each array's type, shape and sha256."""
    return json.dumps({"meta": meta, CHECKSUM: _digest(sums, meta)}, sort_keys=True)


def _digest(sums: Mapping[str, Any], meta: Any) -> str:
    """Checksum of names, types, shapes, values and metadata."""
    return hashlib.sha256(json.dumps([sums, meta], sort_keys=True).encode()).hexdigest()


def _as_os_error(error: Exception, path: str | Path) -> Exception:
    """A failed write as Python's own error; the library reports it as text."""
    number = re.search(r"os error (\d+)", str(error))
    return OSError(int(number[1]), os.strerror(int(number[1])), str(path)) if number else error
