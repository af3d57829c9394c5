"""Write data/raw/<dataset>/<file>.dvc for the original files of the datasets that params.yaml needs: `make imports`.

What `dvc import-url` would write, without the network: the file's public URL, and the md5 of the file in data/raw,
whose sha256 is first held against data/sources.csv. A file that its URL gives only inside an archive, or behind a
page, is tracked without a URL to update from; the description says where it comes from. So is a sample, which has no
URL of its own. Of several versions the one that is here is tracked and no other, whose pointers are removed; a dataset
that nobody can have here is not.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from dvc.exceptions import DvcException
from dvc.repo import Repo

sys.path.insert(0, str(Path(__file__).parents[1]))

from cutlayer.core.errors import InputError
from cutlayer.data.sources import Source, held, local_files, read_sources
from cutlayer.plan.plan import Plan

RAW, SOURCES = Path("data/raw"), Path("data/sources.csv")


def tracked() -> Iterator[Source]:
    """The files of every dataset in use that are here; what is not here is said."""
    for dataset in Plan(yaml.safe_load(Path("params.yaml").read_text(encoding="utf-8"))).datasets():
        rows = held(dataset, RAW, SOURCES)
        if not rows and not local_files(dataset, RAW, None, SOURCES):
            print(
                f"dataset.{dataset}: is not in {RAW} and not tracked; `make data` brings what can be had",
                file=sys.stderr,
            )
        yield from rows


def pointer(row: Source, file: Path) -> dict[str, Any]:
    """The content of the .dvc file."""
    out = {"md5": digest(file, "md5"), "size": file.stat().st_size, "hash": "md5", "path": row.file}
    if row.url.endswith(f"/{row.file}") and not row.member:
        return {"frozen": True, "deps": [{"hash": "md5", "path": row.url}], "outs": [out]}
    origin = f"from {row.member} in {row.url}" if row.member else f"from {row.url}" if row.url else row.note
    return {"desc": origin, "outs": [out]}


def digest(file: Path, kind: str) -> str:
    """A file's checksum; it may be larger than memory."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, kind).hexdigest()


def write(file: Path, content: dict[str, Any]) -> None:
    """Write a .dvc file as DVC does, so that DVC never has a reason to write it again."""
    file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    with Repo() as repo, repo.lock:
        stage = repo.stage.load_one(str(file))
        stage.md5 = stage.compute_md5()
        stage.dump()


def main() -> None:
    """Write all pointers, remove those of other versions; a file that is another one than declared is an error."""
    kept = set()
    for row in tracked():
        file = RAW / row.dataset / row.file
        if row.sha256 and digest(file, "sha256") != row.sha256:
            raise InputError(f"file.{file}", "has another sha256 than data/sources.csv", "remove it, then `make data`")
        write(Path(f"{file}.dvc"), pointer(row, file))
        kept.add(Path(f"{file}.dvc"))
    versions = {RAW / row.dataset / f"{row.file}.dvc" for row in read_sources(SOURCES) if row.file}
    for other in versions - kept:
        if other.parent in {made.parent for made in kept}:
            other.unlink(missing_ok=True)


if __name__ == "__main__":
    try:
        main()
    except (InputError, DvcException) as error:
        sys.exit(f"error: {error}")
