"""`python -m release.same`: whether the code of now gives the numbers that the code of the reference run gives.

Code that is moved, or made faster, need not cost a night. The last commit is run at scale quick twice: as it is, and
with the files of code on which the reference's numbers depend as they were then. Every number of every exhibit has to
be the same, byte for byte, but for measured times. Then reference/same.csv says so, and a release takes the code of now
for the reference run's. What scale quick does not reach is not looked at: that is for the tests.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

from cutlayer.core import yamls
from cutlayer.core.artifacts import write_rows
from cutlayer.core.errors import InputError
from cutlayer.core.machine import processor
from cutlayer.reference import published

from . import changes, checks, git

SCALE = "quick"
RAW, CELLS = Path("data/raw"), Path("results/cells")
WHOLE = (*changes.TREE, "docs", "reference", "README.md", "CITATION.cff")  # what Snakemake needs to run
SNAKEMAKE = (sys.executable, "-m", "snakemake", "--cores", "all", "--quiet", "all", "--scheduler", "greedy")
MEASURED = ("seconds_per_step", "time_ratio")  # metrics that differ from run to run
Lines = dict[str, list[str]]


def main(root: Path, run: Callable[[Path], None]) -> list[str]:
    """Compare with each commit of the reference run, and write what holds; the sentences say so.

    Raises:
        InputError: A number differs, or the checkout has uncommitted changes.

    """
    for problem in checks.tree(root):
        raise problem
    made, now = published.runs(root / published.FOLDER), git.commit(root, "HEAD")
    rows, said = [], []
    for commit in dict.fromkeys(own["commit"] for own in made.values()):
        scale = next(own["scale"] for own in made.values() if own["commit"] == commit)
        papers = [paper for paper, own in made.items() if own["commit"] == commit]
        files = changes.code(root, commit, scale, papers)
        if not files:
            said.append(f"{commit[:12]}: the code is the same")
            continue
        numbers = compared(root, commit, files, run)
        about = {"scale": SCALE, "numbers": numbers, "date": str(date.today()), "machine": processor()}
        rows.append({"commit": commit, "same": now, **about})
        said.append(f"{commit[:12]}: {numbers} numbers are the same, with {len(files)} files of code that differ")
    if rows:
        write_rows(root / changes.SAME, rows)
    return said


def compared(root: Path, commit: str, files: list[str], run: Callable[[Path], None]) -> int:
    """How many numbers the last commit gives with and without these files as they were; an error if any differs."""
    with tempfile.TemporaryDirectory(prefix="cutlayer-") as name:
        lines = []
        for then in (False, True):
            folder = Path(name).resolve() / ("then" if then else "now")
            tree(root, folder)
            if then:
                put_back(root, folder, commit, files)
            run(folder)
            lines.append(numbers(folder))
            shutil.rmtree(folder / "results/runs", ignore_errors=True)  # the largest part
    now, before = lines
    differing = [file for file in dict.fromkeys([*now, *before]) if now.get(file) != before.get(file)]
    if differing or not now:
        wrong = f"{checks.few(differing)} differ from those with the code of {commit[:12]}" if now else "has no numbers"
        raise InputError("release.same", wrong, "the same bytes are meant, or a new reference run")
    return sum(map(len, now.values()))


def tree(root: Path, folder: Path) -> None:
    """The last commit, with the raw data of the checkout."""
    with tarfile.open(fileobj=io.BytesIO(git.archive(root, *WHOLE))) as packed:
        packed.extractall(folder, filter="data")
    for file in (root / RAW).rglob("*"):
        place = folder / file.relative_to(root)
        if file.is_file() and not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(file.resolve())


def put_back(root: Path, folder: Path, commit: str, files: list[str]) -> None:
    """These files as they were in a commit, or not at all."""
    for file in files:
        (folder / file).unlink(missing_ok=True)
        if git.holds(root, "cat-file", "-e", f"{commit}:{file}"):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(git.told(root, "show", f"{commit}:{file}"), encoding="utf-8")


def snakemake(folder: Path) -> None:
    """All cells of all papers, with the library of the folder."""
    papers = yamls.read(folder / "params.yaml")["papers"]
    command = [*SNAKEMAKE, "--until", "cells", "--config", f"scale={SCALE}", "--", *papers]
    print(f"{folder.name}: {' '.join(command[2:])}", file=sys.stderr)
    subprocess.run(command, cwd=folder, env=os.environ | {"PYTHONPATH": str(folder / "workflow")}, check=True)


def numbers(folder: Path) -> Lines:
    """The lines of every exhibit's cells, without those of measured times."""
    return {str(file.relative_to(folder)): [*_lines(file)] for file in sorted((folder / CELLS).rglob("*.csv"))}


def _lines(file: Path) -> Iterator[str]:
    with file.open(newline="", encoding="utf-8") as content:
        yield from (",".join(row.values()) for row in csv.DictReader(content) if row["metric"] not in MEASURED)


if __name__ == "__main__":
    try:
        print("\n".join(main(Path.cwd(), snakemake)))
    except InputError as error:
        sys.exit(f"error: {error}")
