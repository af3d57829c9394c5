"""Safe extraction of one named member from a zip, gz or tar; hostile archives are refused.

Nothing is unpacked into a folder: the bytes of one member go to one given file, so that no name
inside an archive decides where anything is written. By hand, because pooch unpacks into a folder,
writes to absolute names and through links under Python 3.11, and knows no limit on the size.
"""

from __future__ import annotations

import gzip
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast

from cutlayer.core.errors import InputError, nearest
from cutlayer.core.files import replacing

CHUNK = 1 << 20
# What the standard library raises on a truncated, damaged or encrypted archive.
DAMAGED = (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, RuntimeError)


def extract(archive: Path, member: str | None, target: Path, limit: int, name: str = "") -> None:
    """Write one member of `archive` to `target`, atomically.

    Without `member` the archive is a gz file, or a zip or tar that holds a single file. `limit` is the
    declared size in bytes: a member that is larger is refused, before and while it is read. `name` is
    what errors call the archive; without it they give its path.

    Raises:
        InputError: the archive is damaged or of an unknown kind, holds a name that leads out of a
            folder, or the member is missing, no plain file, or larger than `limit`.

    """
    name = name or str(archive)
    try:
        with (
            _opened(archive, member, limit, name) as stream,
            replacing(target) as temporary,
            temporary.open("wb") as out,
        ):
            _copy(stream, out, limit, name)
    except DAMAGED as error:
        raise _refused(name, f"is truncated or damaged ({error})", "fetch it again") from error


def _opened(archive: Path, member: str | None, limit: int, name: str) -> AbstractContextManager[IO[bytes]]:
    with archive.open("rb") as file:
        head = file.read(265)
    if head.startswith(b"PK"):
        return _zip_member(archive, member, limit, name)
    if head.startswith(b"\x1f\x8b") and member is None:
        return cast(IO[bytes], gzip.open(archive))
    if head.startswith(b"\x1f\x8b") or head[257:262] == b"ustar":
        return _tar_member(archive, member, limit, name)
    raise _refused(name, "is not an archive", "expected zip, gz or tar")


@contextmanager
def _zip_member(archive: Path, member: str | None, limit: int, name: str) -> Iterator[IO[bytes]]:
    with zipfile.ZipFile(archive) as file:
        entries = {entry.filename: entry for entry in file.infolist()}
        plain = [path for path, entry in entries.items() if not entry.is_dir()]
        entry = entries[_chosen(name, member, entries, plain)]
        # The upper half of external_attr is the Unix mode; 0 where the archive was made elsewhere.
        mode = stat.S_IFMT(entry.external_attr >> 16)
        _check_entry(name, entry.filename, mode in (0, stat.S_IFREG), entry.file_size, limit)
        with file.open(entry) as stream:
            yield stream


@contextmanager
def _tar_member(archive: Path, member: str | None, limit: int, name: str) -> Iterator[IO[bytes]]:
    with tarfile.open(archive) as file:
        entries = {entry.name: entry for entry in file.getmembers()}
        plain = [path for path, entry in entries.items() if not entry.isdir()]
        entry = entries[_chosen(name, member, entries, plain)]
        _check_entry(name, entry.name, entry.isreg(), entry.size, limit)
        stream = file.extractfile(entry)
        assert stream is not None  # a regular file, checked above
        with stream:
            yield stream


def _chosen(name: str, member: str | None, inside: Iterable[str], plain: list[str]) -> str:
    """The name of the requested member; refuse the whole archive if any name in it leads out of its folder."""
    for path in inside:
        if _escapes(path):
            raise _refused(name, f"holds {path!r}, which leads out of the folder", "it is not unpacked")
    if member is None and len(plain) != 1:
        raise _refused(name, f"holds {len(plain)} files", "expected the name of one of them")
    chosen = member if member is not None else plain[0]
    if chosen not in plain:
        raise _refused(name, f"has no member {chosen!r}", nearest(chosen, plain))
    return chosen


def _escapes(member: str) -> bool:
    # Windows reads a backslash as a separator and "C:" as a drive.
    path = PurePosixPath(member.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts or member[1:2] == ":"


def _check_entry(name: str, member: str, regular: bool, size: int, limit: int) -> None:
    if not regular:
        raise _refused(name, f"{member!r} is a link or a special file", "expected a plain file")
    if size > limit:
        raise _refused(name, f"{member!r} has {size:,} bytes", f"at most {limit:,} are allowed")


def _copy(stream: IO[bytes], out: IO[bytes], limit: int, name: str) -> None:
    """Copy in chunks and count the bytes, because a header may lie about the size."""
    written = 0
    while chunk := stream.read(CHUNK):
        written += len(chunk)
        if written > limit:
            raise _refused(name, f"unpacks to more than {limit:,} bytes", "that is its declared size")
        out.write(chunk)


def _refused(name: str, wrong: str, allowed: str) -> InputError:
    return InputError(f"archive.{name}", wrong, allowed)
