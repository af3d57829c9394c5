"""Make sure that `dvc push` sends a whole record, and the raw files that are here, too: part of `make push`.

`dvc commit` would do, were it not for imports: for these it asks the public URL, which need not be reachable.
"""

from __future__ import annotations

import sys
from pathlib import Path

from dvc.exceptions import DvcException
from dvc.repo import Repo
from dvc.stage import Stage

sys.path.insert(0, str(Path(__file__).parents[1]))

from cutlayer.core.errors import InputError


def keep(stage: Stage) -> None:
    """Cache the one file of a stage; another file than the one that git has recorded is an error."""
    (out,) = stage.outs
    if not out.exists:
        return
    if out.changed_checksum():
        wrong = f"is not the one that {stage.addressing} records"
        raise InputError(f"file.{out}", wrong, "remove it, or `make imports`")
    stage.commit()


def check(repo: Repo) -> None:
    """Raise unless dvc.lock records all of these results, as made by this code: nobody could pull anything else."""
    changed = repo.status(["dvc.yaml"]) if Path("dvc.yaml").exists() else {}
    if changed:
        wrong = f"does not record these results and this code (stages {', '.join(changed)})"
        raise InputError("dvc.lock", wrong, "`make record` first")


def main() -> None:
    """Check the record, then cache every raw file that is tracked and here."""
    with Repo() as repo:
        check(repo)
        with repo.lock:
            for pointer in sorted(Path("data/raw").glob("*/*.dvc")):
                keep(repo.stage.load_one(str(pointer)))


if __name__ == "__main__":
    try:
        main()
    except (InputError, DvcException) as error:
        sys.exit(f"error: {error}")
