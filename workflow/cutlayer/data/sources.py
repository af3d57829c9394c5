"""sources: the table of original files, data/sources.csv, and which of them are at hand.

The Snakefile asks `asked` whenever it is parsed, and so in each job: only the standard library is imported here.
"""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from pathlib import Path

from cutlayer.core.errors import InputError, few, nearest

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


class Missing(Exception):
    """One place does not have one file; the text says why, and is the same in every run."""


def local_files(dataset: str, raw: str | Path, mirror: str | Path | None, sources: str | Path) -> bool:
    """Say whether raw or the mirror hold all files of some version; they are not read, only looked for.

    True also for a dataset without files, one that is bundled or generated.
    """
    return bool(_local_versions(dataset, Path(raw), mirror, sources))


def held(dataset: str, raw: str | Path, sources: str | Path) -> list[Source]:
    """The files of the first version that the raw folder holds in full; none of a dataset without files."""
    versions = (rows for rows in versions_of(dataset, sources, None) if is_local(rows, Path(raw), None))
    return [row for row in next(versions, []) if row.file]


def asked(dataset: str, folder: str | Path, raw: str | Path, mirror: str | Path | None, sources: str | Path) -> str:
    """Why the normalised data in `folder` are wanted: a text that changes only when they should be made again.

    It is what the last run recorded, unless files of a better version, or any in place of a stand-in, are here now.
    """
    facts = Path(folder, f"{dataset}.json")
    if not facts.is_file():
        return "first"
    try:
        meta = json.loads(facts.read_text(encoding="utf-8"))
        version, before = meta["version"], str(meta["asked"])
    except (ValueError, LookupError):
        return "damaged"
    ranks = [rows[0].version for rows in versions_of(dataset, sources, None)]
    better = ranks[: ranks.index(version)] if version in ranks else ranks
    here = _local_versions(dataset, Path(raw), mirror, sources)
    return "files found" if here and here[0] in better else before


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


def versions_of(dataset: str, sources: str | Path, version: str | None) -> list[list[Source]]:
    """The rows of `dataset`, one list per version, in the order of the file.

    `sources` may also be the folder of a dataset of one's own: its files are those in a folder of its name there.
    """
    every = _beside(Path(sources), dataset) if Path(sources).is_dir() else read_sources(sources)
    rows = [row for row in every if dataset in made_of(row)]
    if not rows:
        known = nearest(dataset, {name for row in every for name in made_of(row)})
        raise InputError(f"dataset.{dataset}", "has no row in the table of sources", known)
    names = list(dict.fromkeys(row.version for row in rows))
    if version is not None and version not in names:
        raise InputError(f"dataset.{dataset}", f"has no version {version!r}", nearest(version, names))
    wanted = names if version is None else [version]
    return [[row for row in rows if row.version == name] for name in wanted]


def own_files(folder: Path, dataset: str) -> list[Path]:
    """The files of a dataset of one's own, which are in a folder of its name; there must be one.

    Hidden ones are not the user's but their programs': .DS_Store, ._cells.csv.
    """
    home = folder / dataset
    found = sorted(path for path in home.glob("[!.]*"))
    if files := [path for path in found if path.is_file()]:
        return files
    wrong = f"has only folders in {home}: {few(path.name for path in found)}" if found else f"has no file in {home}"
    raise InputError(f"dataset.{dataset}", wrong, f"files expected there, of folders one archive ({dataset}.zip)")


def _beside(folder: Path, dataset: str) -> list[Source]:
    """A row for each of them."""
    empty = dict.fromkeys(COLUMNS, "") | {"dataset": dataset, "version": "own", "provenance": "real"}
    return [Source(**empty | {"file": file.name}) for file in own_files(folder, dataset)]


def is_local(rows: list[Source], raw: Path, mirror: str | Path | None) -> bool:
    """Whether every file of a version is at hand."""
    return all(at_hand(row, raw, mirror) for row in rows)


def at_hand(row: Source, raw: Path, mirror: str | Path | None) -> bool:
    """Whether raw holds a file or the mirror lists it; one that is listed and not there is an error when it is used."""
    if not row.file or (raw / row.dataset / row.file).is_file():
        return True
    try:
        return bool(mirrored(row, mirror))
    except Missing:
        return False


def mirrored(row: Source, mirror: str | Path | None) -> tuple[Path, bool]:
    """Return the mirror's path of a file, matched by checksum, and whether it is packed there."""
    if not mirror:
        raise Missing("none is set")
    if not row.sha256:
        raise Missing("no checksum is known to find the file by")
    manifest = Path(mirror, "manifest.csv")
    if not manifest.is_file():
        raise Missing("the folder has no manifest.csv")
    for entry in _read_csv(manifest, MANIFEST_COLUMNS):
        if row.sha256 in (entry["sha256"], entry["sha256_uncompressed"]):
            path = Path(entry["path"])
            if path.is_absolute() or ".." in path.parts:
                raise InputError(f"file.{manifest}", f"lists {path}", "a path inside the mirror is meant")
            return Path(mirror, path), row.sha256 != entry["sha256"]
    raise Missing("its manifest lists no file with this checksum")


def _local_versions(dataset: str, raw: Path, mirror: str | Path | None, sources: str | Path) -> list[str]:
    """The versions whose files raw or the mirror hold, the preferred one first."""
    versions = versions_of(dataset, sources, None)
    return [rows[0].version for rows in versions if is_local(rows, raw, mirror)]


def _read_csv(path: Path, columns: tuple[str, ...]) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        missing = set(columns) - set(reader.fieldnames or ())
        if missing:
            raise InputError(f"file.{path}", f"has no column {sorted(missing)[0]!r}", f"{', '.join(columns)} are meant")
        return [{key: value or "" for key, value in row.items() if key} for row in reader]
