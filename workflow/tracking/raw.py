"""Put the raw files that are here into DVC's cache, so that `dvc push` sends them too: part of `make push`.

`dvc commit` would do, were it not for imports: for these it asks the public URL, which need not be reachable.
"""

from __future__ import annotations

import sys
from pathlib import Path

from dvc.repo import Repo
from dvc.stage import Stage


def keep(stage: Stage) -> None:
    """Cache the one file of a stage; another file than the one that git has recorded is an error."""
    (out,) = stage.outs
    if not out.exists:
        return
    if out.changed_checksum():
        sys.exit(f"error: file.{out}: is not the one that {stage.addressing} records; remove it, or `make imports`")
    stage.commit()


def main() -> None:
    """Cache every raw file that is tracked and here."""
    with Repo() as repo, repo.lock:
        for pointer in sorted(Path("data/raw").glob("*/*.dvc")):
            keep(repo.stage.load_one(str(pointer)))


if __name__ == "__main__":
    main()
