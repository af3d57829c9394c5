"""acquire: bring a dataset's original files into the raw folder, each verified by its checksum.

Per file, in order: the raw folder, the mirror folder, the public URL. What none of them has is
`Unavailable`, which the caller answers with a stand-in or an error. Only the standard library is
imported here, so that the DAG can ask `local_files` at no cost.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from cutlayer.core.errors import InputError, nearest

COLUMNS = ("dataset", "version", "file", "url", "member", "sha256", "bytes", "provenance", "licence", "note", "serves")
MANIFEST_COLUMNS = ("path", "sha256", "sha256_uncompressed")
LARGEST = 32 << 30  # bytes; the limit for a file whose size is not known beforehand
SHA256 = re.compile("[0-9a-f]{64}")
STAND_IN = "stand-in"  # provenance of what is generated instead, also where files say how


@dataclass(frozen=True)
class Source:
    """A row of data/sources.csv: one original file of one version of a dataset; empty text: not known."""

    dataset: str
    version: str
    file: str
    url: str
    member: str
    sha256: str
    bytes: str
    provenance: str
    licence: str
    note: str
    serves: str  # other datasets that are made of the same file, separated by spaces

    @property
    def limit(self) -> int:
        """The size of the file in bytes, or the largest allowed where it is not known."""
        return int(self.bytes) if self.bytes else LARGEST


@dataclass(frozen=True)
class Acquired:
    """The verified files of one version of a dataset, and where they were found."""

    dataset: str
    version: str
    provenance: str
    licence: str
    where: str
    note: str
    files: dict[str, Path]
    sha256: dict[str, str]


class Unavailable(InputError):
    """No place has the files of a dataset; `reasons` says why, place by place, without local paths."""

    def __init__(self, dataset: str, reasons: list[str], stand_ins: bool) -> None:
        self.reasons = reasons
        remedy = "a stand-in can take its place" if stand_ins else "allow stand_ins, or put the files into raw"
        super().__init__(f"dataset.{dataset}", f"is not available: {' | '.join(reasons)}", remedy)


class _Missing(Exception):
    """One place does not have one file; the text says why."""


def acquire(
    dataset: str,
    raw: str | Path,
    mirror: str | Path | None,
    stand_ins: bool,
    sources: str | Path,
    version: str | None = None,
) -> Acquired:
    """Bring all files of `dataset` into `raw`/<dataset>/ and verify them.

    A dataset that another one's files serve shares that one's folder.

    Versions are tried in the order of `sources`, those that raw or the mirror hold first, so that a
    local sample is preferred to a long download; `version` asks for one of them. `stand_ins` says whether
    a version of which only a stand-in can be made is good enough, and decides what the error advises.

    Raises:
        Unavailable: no place has the files.
        InputError: a file is truncated or has a wrong checksum; nothing of it is kept.

    """
    versions = _versions(dataset, sources, version)
    reasons = []
    for rows in sorted(versions, key=lambda rows: not _is_local(rows, Path(raw), mirror)):
        if rows[0].provenance == STAND_IN and not stand_ins:
            reasons.append(f"{rows[0].version}: it makes a stand-in only")
            continue
        try:
            return _fetch(rows, Path(raw), mirror)
        except _Missing as missing:
            reasons.append(f"{rows[0].version}: {missing}")
    raise Unavailable(dataset, reasons, stand_ins)


def local_files(dataset: str, raw: str | Path, mirror: str | Path | None, sources: str | Path) -> bool:
    """Say whether raw or the mirror hold all files of some version; they are not read, only looked for.

    True also for a dataset without files, one that is bundled or generated.
    """
    return bool(_local_versions(dataset, Path(raw), mirror, sources))


def held(dataset: str, raw: str | Path, sources: str | Path) -> list[Source]:
    """The files of the first version that the raw folder holds in full; none of a dataset without files."""
    versions = (rows for rows in _versions(dataset, sources, None) if _is_local(rows, Path(raw), None))
    return [row for row in next(versions, []) if row.file]


def asked(dataset: str, folder: str | Path, raw: str | Path, mirror: str | Path | None, sources: str | Path) -> str:
    """Why the normalised data in `folder` are wanted: a text that changes only when they should be made again.

    It is what the last run recorded, unless that run had to make a stand-in and (better) files are here now.
    """
    facts = Path(folder, f"{dataset}.json")
    if not facts.is_file():
        return "first"
    try:
        meta = json.loads(facts.read_text())
        provenance, version, before = meta["provenance"], meta["version"], str(meta["asked"])
    except (ValueError, LookupError):
        return "damaged"
    here = _local_versions(dataset, Path(raw), mirror, sources)
    return "files found" if provenance == STAND_IN and here and here[0] != version else before


def read_sources(path: str | Path) -> list[Source]:
    """Read data/sources.csv; a missing column or a name that is a path is an error."""
    rows = [Source(**{name: row[name] for name in COLUMNS}) for row in _read_csv(Path(path), COLUMNS)]
    for row in rows:
        where = f"sources.{row.dataset}"
        for name in (row.dataset, row.file):
            if Path(name).name != name:
                raise InputError(where, f"{name!r} is a path", "a plain name is meant")
        if row.bytes and not row.bytes.isdecimal():
            raise InputError(where, f"bytes = {row.bytes!r}", "a whole number is meant, or nothing")
        if row.sha256 and not SHA256.fullmatch(row.sha256):
            raise InputError(where, f"sha256 = {row.sha256!r}", "64 digits 0-9a-f are meant, or nothing")
    return rows


def made_of(row: Source) -> list[str]:
    """The datasets that are made of a file; the first one's folder holds it."""
    return [row.dataset, *row.serves.split()]


def _versions(dataset: str, sources: str | Path, version: str | None) -> list[list[Source]]:
    """The rows of `dataset`, one list per version, in the order of the file."""
    every = read_sources(sources)
    rows = [row for row in every if dataset in made_of(row)]
    if not rows:
        known = nearest(dataset, {name for row in every for name in made_of(row)})
        raise InputError(f"dataset.{dataset}", "has no row in the table of sources", known)
    names = list(dict.fromkeys(row.version for row in rows))
    if version is not None and version not in names:
        raise InputError(f"dataset.{dataset}", f"has no version {version!r}", nearest(version, names))
    wanted = names if version is None else [version]
    return [[row for row in rows if row.version == name] for name in wanted]


def _local_versions(dataset: str, raw: Path, mirror: str | Path | None, sources: str | Path) -> list[str]:
    """The versions whose files raw or the mirror hold, the preferred one first."""
    versions = _versions(dataset, sources, None)
    return [rows[0].version for rows in versions if _is_local(rows, raw, mirror)]


def _is_local(rows: list[Source], raw: Path, mirror: str | Path | None) -> bool:
    def held(row: Source) -> bool:
        if not row.file or (raw / row.dataset / row.file).is_file():
            return True
        try:
            return _mirrored(row, mirror)[0].is_file()
        except _Missing:
            return False

    return all(held(row) for row in rows)


def _fetch(rows: list[Source], raw: Path, mirror: str | Path | None) -> Acquired:
    """Obtain every file of one version."""
    first = rows[0]
    bundled = "generated" if first.provenance == "synthetic" else "bundled with scikit-learn"
    found = {row.file: _obtain(row, raw / row.dataset / row.file, mirror) for row in rows if row.file}
    unverified = [f"the checksum of {row.file} was not known beforehand" for row in rows if row.file and not row.sha256]
    return Acquired(
        dataset=first.dataset,
        version=first.version,
        provenance=first.provenance,
        licence=first.licence,
        where=" and ".join(dict.fromkeys(where for where, _ in found.values())) or bundled,
        note="; ".join(dict.fromkeys([row.note for row in rows if row.note] + unverified)),
        files={name: raw / first.dataset / name for name in found},
        sha256={name: sha256 for name, (_, sha256) in found.items()},
    )


def _obtain(row: Source, target: Path, mirror: str | Path | None) -> tuple[str, str]:
    """Return (where the file was found, its sha256); `target` holds it afterwards."""
    from cutlayer.core.files import replacing

    if target.exists():
        return "raw", verified(target, row, f"{target}")
    reasons = ["not in raw"]
    for where in ("mirror", "the public URL"):
        try:
            with replacing(target) as temporary:
                if where == "mirror":
                    _from_mirror(row, temporary, mirror)
                else:
                    _from_url(row, temporary)
                return where, verified(temporary, row, f"{row.dataset}/{row.file} from {where}")
        except _Missing as missing:
            reasons.append(f"{where}: {missing}")
    raise _Missing(f"{row.file} ({'; '.join(reasons)})")


def verified(path: Path, row: Source, name: str) -> str:
    """Return the sha256 of a file; another size or checksum than the declared one is an error."""
    size = path.stat().st_size
    if row.bytes and size != int(row.bytes):
        raise InputError(f"file.{name}", f"has {size:,} bytes", f"{int(row.bytes):,} expected; it is not used")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if row.sha256 and found != row.sha256:
        raise InputError(f"file.{name}", f"has the sha256 {found}", f"{row.sha256} expected; it is not used")
    return found


def _from_mirror(row: Source, target: Path, mirror: str | Path | None) -> None:
    from .archives import extract

    path, packed = _mirrored(row, mirror)
    if not path.is_file():
        raise _Missing("its manifest lists the file, the folder does not hold it")
    if packed:
        extract(path, None, target, row.limit)
    else:
        shutil.copyfile(path, target)


def _mirrored(row: Source, mirror: str | Path | None) -> tuple[Path, bool]:
    """Return the mirror's path of a file, matched by checksum, and whether it is packed there."""
    if not mirror:
        raise _Missing("none is set")
    if not row.sha256:
        raise _Missing("no checksum is known to find the file by")
    manifest = Path(mirror, "manifest.csv")
    if not manifest.is_file():
        raise _Missing("the folder has no manifest.csv")
    for entry in _read_csv(manifest, MANIFEST_COLUMNS):
        if row.sha256 in (entry["sha256"], entry["sha256_uncompressed"]):
            path = Path(entry["path"])
            if path.is_absolute() or ".." in path.parts:
                raise InputError(f"file.{manifest}", f"lists {path}", "a path inside the mirror is meant")
            return Path(mirror, path), row.sha256 != entry["sha256"]
    raise _Missing("its manifest lists no file with this checksum")


def _from_url(row: Source, target: Path) -> None:
    from .archives import extract
    from .download import Unreachable, download

    if not row.url:
        raise _Missing("none is known")
    name = f"{row.dataset}/{row.file} from {row.url}"
    try:
        download(row.url, target, LARGEST if row.member else row.limit, name)
    except Unreachable as error:
        raise _Missing(str(error)) from error
    if row.member:
        # The member takes the archive's place, so that one temporary file is cleaned up in all cases.
        extract(target, row.member, target, row.limit, name)


def _read_csv(path: Path, columns: tuple[str, ...]) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        missing = set(columns) - set(reader.fieldnames or ())
        if missing:
            raise InputError(f"file.{path}", f"has no column {sorted(missing)[0]!r}", f"{', '.join(columns)} are meant")
        return [{key: value or "" for key, value in row.items() if key} for row in reader]
