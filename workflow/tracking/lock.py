"""Mend what DVC leaves half written when it is killed at the wrong moment: part of `make record`.

DVC writes dvc.lock in place. Half of one is replaced by that of the last commit: stages that ran since then run
again, and Snakemake finds their jobs done.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import voluptuous
import yaml
from dvc.schema import COMPILED_LOCKFILE_SCHEMA

LOCK, PROCESSES = Path("dvc.lock"), Path(".dvc/tmp/rwlock")


def whole(lock: Path) -> bool:
    """Whether DVC would accept this lock file."""
    try:
        COMPILED_LOCKFILE_SCHEMA(yaml.safe_load(lock.read_text(encoding="utf-8")))
    except (yaml.YAMLError, voluptuous.Invalid, UnicodeDecodeError):
        return False
    return True


def from_last_commit(lock: Path) -> str:
    """Replace the file by the committed one; without one remove it. Return which of these was done."""
    committed = subprocess.run(["git", "show", f"HEAD:./{lock}"], capture_output=True, check=False)
    if committed.returncode == 0:
        lock.write_bytes(committed.stdout)
        return "it is that of the last commit now"
    lock.unlink()
    return "it is removed, for no commit has it"


def main() -> None:
    """Leave both files as DVC can read them."""
    if LOCK.exists() and not whole(LOCK):
        print(f"dvc.lock was half written; {from_last_commit(LOCK)}.", file=sys.stderr)
    try:
        json.loads(PROCESSES.read_text(encoding="utf-8"))
    except FileNotFoundError:
        pass
    except ValueError:
        PROCESSES.unlink()


if __name__ == "__main__":
    main()
