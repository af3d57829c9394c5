"""Result files with checksums: JSON, csv, and arrays as safetensors, written atomically and without executable code.

Each file is written under a temporary name in its own folder and renamed, so that an interrupted run leaves nothing
that looks like a result; a changed byte is detected when the file is read.
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
    """Write `content` and its checksum as indented JSON with sorted keys; NaN is refused."""
    signed = {**content, CHECKSUM: _digest_of_json(content)}
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(signed, indent=2, sort_keys=True, allow_nan=False) + "\n", encoding="utf-8")


def read_json(path: str | Path) -> dict[str, Any]:
    """Read a file of `write_json` and check its checksum; a damaged file is an InputError that names it."""
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
    """Write rows as csv, with floats that read back equal; a column that a row lacks is empty in it."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def join_rows(parts: Sequence[str | Path], path: str | Path) -> None:
    """Concatenate tables of `write_rows`: the file that it would have written for all rows."""
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
    """Read a file of `write_arrays`: (arrays, meta); a damaged file is an InputError that names it."""
    mapped, signed = _mapped(path)
    arrays = {name: array.copy() for name, array in mapped.items()}
    return arrays, _checked(path, arrays, signed)


def map_arrays(path: str | Path) -> tuple[dict[str, np.ndarray], Any]:
    """Memory-map a file of `write_arrays`: (arrays, meta); rows are read when they are used, without a check."""
    mapped, signed = _mapped(path)
    return mapped, signed.get("meta")


def check_arrays(path: str | Path) -> None:
    """Raise an InputError unless the checksum of a file of arrays is right, whatever its size."""
    _checked(path, *_mapped(path))


def checksum(path: str | Path) -> str:
    """The checksum stored in a file of arrays, without reading the arrays."""
    return str(_mapped(path)[1].get(CHECKSUM))


def _mapped(path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The memory-mapped arrays and the signed metadata; a truncated file is an InputError."""
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
    """The metadata, after a check of the checksum."""
    meta = signed.get("meta")
    if signed.get(CHECKSUM) != _digest(_sums(arrays), meta):
        raise InputError(f"file.{path}", "is not as it was written: its checksum differs", REMEDY)
    return meta


def _sums(arrays: Mapping[str, np.ndarray]) -> dict[str, list[Any]]:
    """Type, shape and sha256 of each array."""
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    sums = {name: hashlib.sha256(array.data if array.size else b"").hexdigest() for name, array in plain.items()}
    return {name: [array.dtype.str, list(array.shape), sums[name]] for name, array in plain.items()}


def signature(sums: Mapping[str, Any], meta: Any) -> str:
    """A file's metadata, and a checksum of them and of each array's type, shape and sha256."""
    return json.dumps({"meta": meta, CHECKSUM: _digest(sums, meta)}, sort_keys=True)


def _digest(sums: Mapping[str, Any], meta: Any) -> str:
    """Checksum of names, types, shapes, values and metadata."""
    return hashlib.sha256(json.dumps([sums, meta], sort_keys=True).encode()).hexdigest()


def _as_os_error(error: Exception, path: str | Path) -> Exception:
    """A failed write of safetensors, which has the system's error as text, as an OSError; other errors unchanged."""
    number = re.search(r"os error (\d+)", str(error))
    return OSError(int(number[1]), os.strerror(int(number[1])), str(path)) if number else error
