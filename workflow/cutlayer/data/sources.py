"""The table of original files, data/sources.csv, and which of them are available.

The Snakefile calls `acquisitions` when it is parsed, and so in each job: only the standard library is imported here.
"""

from __future__ import annotations

import csv
import difflib
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from cutlayer.core.errors import InputError, few, nearest

COLUMNS = (
    "dataset", "version", "file", "url", "member", "package", "package_member", "sha256", "bytes", "provenance",
    "licence", "note", "serves",
)  # fmt: skip
MANIFEST = "manifest.csv"  # of a mirror
MANIFEST_COLUMNS = ("path", "sha256", "sha256_uncompressed")
LARGEST = 32 << 30  # bytes; the limit for a file whose size is not known beforehand
ALIKE = 0.65  # how much of a file's name has to be that of another: train.zip is like train.csv, test.csv is not
SHA256 = re.compile("[0-9a-f]{64}")
PACKAGE = re.compile(r"[A-Za-z0-9][\w.-]*==[\w.!+]+")
STAND_IN = "stand-in"  # provenance and version of what is generated instead


@dataclass(frozen=True)
class Source:
    """A row of data/sources.csv: one original file of one version of a dataset; an empty text is unknown."""

    dataset: str
    version: str
    file: str
    url: str
    member: str
    package: str  # of a public index, which carries the file: name==version
    package_member: str
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
    """Error: a place does not have a file; the text has the reason, and is the same in every run.

    `again` is the address that may have it the next time, where the failure was a passing one.
    """

    def __init__(self, why: str, again: str = "") -> None:
        super().__init__(why)
        self.again = again


def held(dataset: str, raw: str | Path, sources: str | Path) -> list[Source]:
    """The files of the first version that the raw folder holds in full; none of a dataset without files."""
    versions = (rows for rows in versions_of(dataset, sources, None) if is_local(rows, Path(raw), None))
    return [row for row in next(versions, []) if row.file]


def folder_of(dataset: str, sources: str | Path) -> str:
    """The folder of a dataset's original files; empty for a dataset that has none."""
    rows = (row for rows in versions_of(dataset, sources, None) for row in rows)
    return next((row.dataset for row in rows if row.file), "")


def datasets_in(folder: str, sources: str | Path) -> list[str]:
    """The datasets whose original files are in a folder."""
    names = dict.fromkeys(name for row in read_sources(sources) if row.file for name in made_of(row))
    return [name for name in names if folder_of(name, sources) == folder]


def acquisitions(
    record: str | Path,
    raw: str | Path,
    mirror: str | Path | None,
    sources: str | Path,
    answering: Collection[str] = (),
) -> int:
    """Number of acquisitions of a folder's files, as in its record; one more if another acquisition may find more.

    It may if files of a better version, or any in place of a stand-in, are at hand now, if a file has changed, or if
    one of the addresses that are `answering` did not answer at that time. -1 of a damaged record.
    """
    if not Path(record).is_file():
        return 0
    try:
        content = json.loads(Path(record).read_text(encoding="utf-8"))
        number, found, again = int(content["acquisitions"]), content["datasets"], {*content["again"]}
        better = any(_better(name, one["version"], Path(raw), mirror, sources) for name, one in found.items())
        folder = Path(raw, Path(record).stem)
        sizes = {name: size for one in found.values() for name, size in one.get("files", {}).items()}
        changed = any(_changed(folder / name, size) for name, size in sizes.items())
    except (ValueError, LookupError, TypeError, AttributeError):
        return -1  # damaged
    return number + (better or changed or not again.isdisjoint(answering))


def _better(dataset: str, version: str, raw: Path, mirror: str | Path | None, sources: str | Path) -> bool:
    """Whether files of a better version than this one, which may be a stand-in, are at hand."""
    ranks = [rows[0].version for rows in versions_of(dataset, sources, None)]
    here = _local_versions(dataset, raw, mirror, sources)
    return bool(here) and here[0] in (ranks[: ranks.index(version)] if version in ranks else ranks)


def _changed(file: Path, size: int) -> bool:
    """Whether a file is there and has another size; one that was removed, to save space, is not missed."""
    return file.is_file() and file.stat().st_size != size


def failed(records: str | Path) -> set[str]:
    """The addresses that failed for a passing reason when the files of a folder were last wanted."""
    found: set[str] = set()
    for record in Path(records).glob("[!.]*.json"):
        try:
            found.update(json.loads(record.read_text(encoding="utf-8"))["again"])
        except (ValueError, LookupError, TypeError):
            continue  # a damaged one is made again
    return found


def resembling(row: Source, raw: Path, sources: str | Path) -> str:
    """The file in raw that probably stands for an absent one, as train.gz for train.csv; empty if there is none."""
    expected = {other.file.lower(): other.file for other in read_sources(sources) if other.dataset == row.dataset}
    for file in sorted((raw / row.dataset).glob("[!.]*")):
        if file.is_file() and file.suffix != ".dvc" and file.name not in expected.values():
            closest = difflib.get_close_matches(file.name.lower(), expected, n=1, cutoff=ALIKE)
            if [expected[name] for name in closest] == [row.file]:
                return file.name
    return ""


def misnamed(folder: str, raw: str | Path, sources: str | Path) -> Iterator[str]:
    """A sentence on each file of a folder that is not there under its name, but maybe under another."""
    for row in read_sources(sources):
        missing = row.dataset == folder and row.file and not Path(raw, folder, row.file).is_file()
        if missing and (name := resembling(row, Path(raw), sources)):
            yield f"{Path(raw, folder)} has {name}; expected {row.file}"


def read_sources(path: str | Path) -> list[Source]:
    """Read data/sources.csv; a missing column or a name that is a path is an error."""
    rows = [Source(**{name: row[name] for name in COLUMNS}) for row in _read_csv(Path(path), COLUMNS)]
    for row in rows:
        where = f"sources.{row.dataset}"
        for name in (row.dataset, row.file):
            if Path(name).name != name:
                raise InputError(where, f"{name!r} is a path", "expected a plain name")
        if row.bytes and not row.bytes.isdecimal():
            raise InputError(where, f"bytes = {row.bytes!r}", "expected a whole number, or nothing")
        if row.sha256 and not SHA256.fullmatch(row.sha256):
            raise InputError(where, f"sha256 = {row.sha256!r}", "expected 64 digits 0-9a-f, or nothing")
        if row.package and not PACKAGE.fullmatch(row.package):
            raise InputError(where, f"package = {row.package!r}", "expected name==version, or nothing")
        if row.package and not (row.package_member and row.sha256):
            raise InputError(where, f"{row.package} has no package_member or no sha256", "expected both of a package")
    return rows


def made_of(row: Source) -> list[str]:
    """The datasets that are made of a file; the first one's folder holds it."""
    return [row.dataset, *row.serves.split()]


def versions_of(dataset: str, sources: str | Path, version: str | None) -> list[list[Source]]:
    """The rows of `dataset`, one list per version, in the order of the file.

    `sources` may also be the folder of a dataset of one's own: its files are those in a folder of its name there.
    """
    every = _own_rows(Path(sources), dataset) if Path(sources).is_dir() else read_sources(sources)
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
    raise InputError(f"dataset.{dataset}", wrong, f"expected files there, of folders one archive ({dataset}.zip)")


def _own_rows(folder: Path, dataset: str) -> list[Source]:
    """A row for each file of a dataset of one's own."""
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


def check_mirror(mirror: str | Path) -> None:
    """Raise unless there is such a folder, with a manifest."""
    if not Path(mirror).is_dir():
        raise InputError(
            f"mirror.{mirror}", "there is no such folder", "expected a folder with copies and a manifest.csv"
        )
    if not Path(mirror, MANIFEST).is_file():
        raise InputError(f"mirror.{mirror}", "has no manifest.csv", "expected a list of its files and their checksums")


def mirrored(row: Source, mirror: str | Path | None) -> tuple[Path, bool]:
    """Return the mirror's path of a file, matched by checksum, and whether it is packed there."""
    if not mirror:
        raise Missing("none is set")
    check_mirror(mirror)
    if not row.sha256:
        raise Missing("no checksum is known to find the file by")
    manifest = Path(mirror, MANIFEST)
    for entry in _read_csv(manifest, MANIFEST_COLUMNS):
        if row.sha256 in (entry["sha256"], entry["sha256_uncompressed"]):
            path = Path(entry["path"])
            if path.is_absolute() or ".." in path.parts:
                raise InputError(f"file.{manifest}", f"lists {path}", "expected a path inside the mirror")
            return Path(mirror, path), row.sha256 != entry["sha256"]
    raise Missing("its manifest lists no file with this checksum")


def _local_versions(dataset: str, raw: Path, mirror: str | Path | None, sources: str | Path) -> list[str]:
    """The versions whose files raw or the mirror hold, the preferred one first."""
    versions = versions_of(dataset, sources, None)
    return [rows[0].version for rows in versions if is_local(rows, raw, mirror)]


def _read_csv(path: Path, columns: tuple[str, ...]) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8-sig") as file:  # some programs begin a file with a mark
        reader = csv.DictReader(file)
        missing = set(columns) - set(reader.fieldnames or ())
        if missing:
            raise InputError(f"file.{path}", f"has no column {sorted(missing)[0]!r}", f"expected {', '.join(columns)}")
        rows = [{key: value or "" for key, value in row.items() if key} for row in reader]
    # Some programs write checksums in capitals.
    return [{k: v.strip().lower() if k.startswith("sha256") else v for k, v in row.items()} for row in rows]
