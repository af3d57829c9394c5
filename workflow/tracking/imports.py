"""Write data/raw/<dataset>/<file>.dvc for every original file of the datasets that params.yaml needs: `make imports`.

What `dvc import-url` would write, without the network: the file's public URL, and the md5 of the file in data/raw,
whose sha256 is first held against data/sources.csv. A file that its URL gives only inside an archive, or behind a
page, is tracked without a URL to update from; the description says where it comes from.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from dvc.repo import Repo

sys.path.insert(0, str(Path(__file__).parents[1]))

from cutlayer.acquire import Source, read_sources
from cutlayer.errors import InputError
from cutlayer.plan import Plan

RAW, SOURCES = Path("data/raw"), Path("data/sources.csv")


def tracked() -> Iterator[Source]:
    """The files of the version that is preferred of every dataset in use."""
    datasets = Plan(yaml.safe_load(Path("params.yaml").read_text())).datasets()
    rows = [row for row in read_sources(SOURCES) if row.dataset in datasets and row.file]
    first = {row.dataset: row.version for row in reversed(rows)}
    return (row for row in rows if row.version == first[row.dataset])


def pointer(row: Source, md5: str) -> dict[str, Any]:
    """The content of the .dvc file."""
    out = {"md5": md5, "size": int(row.bytes), "hash": "md5", "path": row.file}
    if row.url.endswith(f"/{row.file}") and not row.member:
        return {"frozen": True, "deps": [{"hash": "md5", "path": row.url}], "outs": [out]}
    origin = f"{row.member} in {row.url}" if row.member else row.url
    return {"desc": f"from {origin}", "outs": [out]}


def write(file: Path, content: dict[str, Any]) -> None:
    """Write a .dvc file as DVC does, so that DVC never has a reason to write it again."""
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    with Repo() as repo, repo.lock:
        stage = repo.stage.load_one(str(file))
        stage.md5 = stage.compute_md5()
        stage.dump()


def main() -> None:
    """Write all pointers; a file that is absent or another one than declared is an error."""
    for row in tracked():
        file = RAW / row.dataset / row.file
        if not file.is_file():
            raise InputError(f"file.{file}", "is not there", "`make data` brings it from a mirror or its URL")
        content = file.read_bytes()
        if hashlib.sha256(content).hexdigest() != row.sha256:
            raise InputError(f"file.{file}", "has another sha256 than data/sources.csv", "remove it, then `make data`")
        write(Path(f"{file}.dvc"), pointer(row, hashlib.md5(content).hexdigest()))


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(f"error: {error}")
