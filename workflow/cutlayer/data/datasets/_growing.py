"""Arrays that grow by rows on disk, without holding them in memory, in the file format of `core.artifacts`."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from cutlayer.core.artifacts import SIGNED, TYPES, signature
from cutlayer.core.files import replacing

HEAD = 4096  # bytes kept free for what is known last: shapes and checksum
CHUNK = 1 << 20  # bytes copied at a time


@contextlib.contextmanager
def growing(path: Path) -> Iterator[Callable[[Mapping[str, np.ndarray]], None]]:
    """Yield a function that appends rows to named arrays; the file appears when all have come.

    Every call gives the same arrays with the same types, and rows of the same shape. The first array is written where
    it stays: it should be the largest.
    """
    columns: dict[str, _Column] = {}
    with contextlib.ExitStack() as spools, replacing(path) as temporary, temporary.open("wb") as file:
        file.write(bytes(HEAD))

        def append(rows: Mapping[str, np.ndarray]) -> None:
            for name, array in rows.items():
                if name not in columns:
                    spool = spools.enter_context(tempfile.TemporaryFile(dir=temporary.parent)) if columns else file
                    columns[name] = _Column(spool, array)
                columns[name].append(array)

        yield append
        for column in columns.values():
            if column.file is not file:
                column.file.seek(0)
                shutil.copyfileobj(column.file, file, CHUNK)
        file.seek(0)
        file.write(_head(columns))


class _Column:
    """An array on disk that grows by rows."""

    def __init__(self, file: IO[bytes], like: np.ndarray) -> None:
        self.file, self.dtype, self.shape, self.rows = file, like.dtype, like.shape[1:], 0
        self.sha256 = hashlib.sha256()

    def append(self, rows: np.ndarray) -> None:
        if (rows.dtype, rows.shape[1:]) != (self.dtype, self.shape):
            raise ValueError(f"rows of {rows.dtype}{rows.shape[1:]} after rows of {self.dtype}{self.shape}")
        if rows.size:
            plain = np.ascontiguousarray(rows).data
            self.file.write(plain)
            self.sha256.update(plain)
        self.rows += len(rows)

    @property
    def sum(self) -> tuple[str, list[int], str]:
        """Type, shape and sha256."""
        return self.dtype.str, [self.rows, *self.shape], self.sha256.hexdigest()


def _head(columns: Mapping[str, _Column]) -> bytes:
    """Header of a safetensors file with these arrays in order."""
    sums, end = {name: column.sum for name, column in columns.items()}, 0
    entries: dict[str, Any] = {"__metadata__": {SIGNED: signature(sums, None)}}
    names = {known: name for name, known in TYPES.items()}
    for name, (dtype, shape, _) in sums.items():
        start, end = end, end + math.prod(shape) * np.dtype(dtype).itemsize
        entries[name] = {"dtype": names[dtype], "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(entries).encode()
    if len(text) > HEAD - 8:
        raise ValueError(f"the head takes {len(text)} bytes, {HEAD - 8} are kept free")
    return (HEAD - 8).to_bytes(8, "little") + text.ljust(HEAD - 8)
