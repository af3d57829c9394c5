"""What changed since the reference run that may change its numbers.

A run of the code of now would do certain jobs; the code of then did certain jobs. What counts is where these differ: in
what a job makes and reads, in its parameters, or in the code that it runs (see `planned`). How rules, plan and
params.yaml say so does not count, and neither does what shows or judges numbers: `make docs` gives verdicts again and
refuses others (`cutlayer.reference.reasons`).
"""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cutlayer.core.errors import InputError
from cutlayer.plan.code import checksum

from . import git

PLANNED = Path(__file__).with_name("planned.py")
TREE = ("Snakefile", "rules", "workflow", "params.yaml", "envs", "data")  # what Snakemake needs to say what it would do
SAME = Path("reference/same.csv")  # what `release.same` found
DEPTH = 3  # keys that are named of parameters that differ: setup.model.epochs
Planned = Mapping[str, Any]


def since(root: Path, commit: str, scale: str, papers: Iterable[str]) -> list[str]:
    """Code, and jobs by the first file that they make, that differ between a commit and now for these papers.

    Code that gives the same numbers, see `release.same`, is taken for the commit's.
    """
    papers = [*papers]  # gone through more than once
    then, now = (at(root, revision, scale, papers) for revision in (commit, "HEAD"))
    same = proven(root, commit)
    code = at(root, same, scale, papers)["code"] if same else then["code"]
    return [*_code(code, now["code"]), *_jobs(then["jobs"], now["jobs"])]


def code(root: Path, commit: str, scale: str, papers: list[str]) -> list[str]:
    """Files of code, on which the numbers of these papers depend, that differ between a commit and now."""
    then, now = (at(root, revision, scale, papers) for revision in (commit, "HEAD"))
    return [*_code(then["code"], now["code"])]


def proven(root: Path, commit: str) -> str:
    """The commit whose code was seen to give the numbers of another's; empty where there is none before this one."""
    if not (root / SAME).exists():
        return ""
    with (root / SAME).open(newline="", encoding="utf-8") as file:
        found = {row["commit"]: row["same"] for row in csv.DictReader(file)}.get(commit, "")
    return found if found and git.holds(root, "merge-base", "--is-ancestor", found, "HEAD") else ""


def at(root: Path, revision: str, scale: str, papers: list[str]) -> Planned:
    """The jobs as the tree of a revision has them, see `planned`.

    Raises:
        InputError: The tree cannot say.

    """
    with tempfile.TemporaryDirectory(prefix="cutlayer-") as name:
        folder = Path(name).resolve()
        with tarfile.open(fileobj=io.BytesIO(git.archive(root, *TREE, revision=revision))) as tree:
            tree.extractall(folder, filter="data")
        command = [sys.executable, "-P", str(PLANNED), str(folder), scale, *papers]
        environment = os.environ | {"PYTHONPATH": str(folder / "workflow")}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False)
        if done.returncode:
            wrong = f"the code of {revision[:12]} does not say what it would run: {done.stderr.strip()[-2000:]}"
            raise InputError("release.jobs", wrong, "`snakemake --dry-run` says the same there")
        found: dict[str, Any] = json.loads(done.stdout)
        return found | {"code": {file: checksum(folder / file) for file in found["code"]}}


def _code(then: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """Files of code that differ, or that only one of both runs."""
    yield from (file for file in dict.fromkeys([*then, *now]) if then.get(file) != now.get(file))


def _jobs(then: Iterable[Planned], now: Iterable[Planned]) -> Iterator[str]:
    """Jobs that differ, with what of them does, or that only one of both has."""
    before, after = ({tuple(job["makes"]): job for job in jobs} for jobs in (then, now))
    for made in dict.fromkeys([*before, *after]):
        if made not in before or made not in after:
            yield made[0]
        elif keys := [*_apart(before[made]["with"], after[made]["with"])]:
            yield f"{made[0]} ({', '.join(keys)})"
        elif before[made]["reads"] != after[made]["reads"]:
            yield f"{made[0]} (what it is made from)"


def _apart(before: Any, after: Any, depth: int = DEPTH, where: str = "") -> Iterator[str]:
    """The keys, with those above them, under which two contents differ."""
    if before == after:
        return
    if depth and isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys([*before, *after]):
            yield from _apart(before.get(key), after.get(key), depth - 1, f"{where}.{key}".removeprefix("."))
    else:
        yield where
