"""`make publish`: put what is finished of a run in results/ into reference/, beside what is there.

Every exhibit of which results/ has cells at the scale adds them (`merge`): whole papers, or the part that was run. Then
verdicts, ledger and the exhibits concerned are made again from all cells that are there. runs.csv has a row for each
run of a paper that cells are of, with what it was made with, data/ the facts of each dataset with the checksums of its
files, seconds.csv what the run's jobs took.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd

from cutlayer.core import yamls
from cutlayer.core.artifacts import read_json, write_rows
from cutlayer.core.errors import InputError
from cutlayer.core.files import replacing
from cutlayer.core.machine import gpus, processor, versions
from cutlayer.core.progress import steps
from cutlayer.plan import code, cost
from cutlayer.plan.jobs import jobs
from cutlayer.plan.plan import Plan

from . import merge, published, redrawn, seconds
from .merge import RUN

CODE = ("Snakefile", "rules", "workflow", "params.yaml")  # what results depend on besides data and packages
PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "torch", "cvxpy", "matplotlib")
LIMIT = 25  # MB that are committed


def publish(root: Path, commit: str, scale: str) -> str:
    """Publish what is finished at a scale in a workflow's folder, and say in a sentence what was."""
    folder = root / published.FOLDER
    before = published.runs(folder)
    config = yamls.read(root / "params.yaml", "params.yaml")
    plan = redrawn.plan_of(root, dict.fromkeys([*config["papers"], *before]))
    if not plan.at(scale).judged_at["numbers"]:
        raise InputError("publish.scale", f"{scale} judges no printed numbers", "expected a run of a larger one")
    run = str(1 + max((int(row[RUN]) for own in before.values() for row in own), default=0))
    finished = {key: table.assign(**{RUN: run}) for key, table in _finished(plan, root / "results", scale)}
    if not finished:
        raise InputError(
            "publish.results", f"has no exhibit at scale {scale}", "expected a finished run of all or a part"
        )
    refused = [*_refuse_weaker(finished, folder), *_of_fewer_seeds(finished, folder)]
    facts = {setup: root / f"data/normalised/{plan.setups[setup]['dataset']}.json" for setup in _setups(finished)}
    _check(facts.values())

    changed = [key for key, table in steps([*finished.items()], "publish") if _merge(plan, folder, *key, table)]
    for file in dict.fromkeys(facts.values()):
        with replacing(folder / "data" / file.name) as temporary:
            shutil.copyfile(file, temporary)
    papers, new = list(dict.fromkeys(paper for paper, _ in changed)), dict[str, dict[str, str]]()
    for paper in papers:
        _drop_gone(plan, folder, paper)
    made = {RUN: run, "commit": commit}
    for paper in papers:
        part = _part(config, scale, paper, finished)
        new[paper] = made | _made(part, plan, paper, root / "logs")
        seconds.record(part, root, root / cost.TABLE)
    redrawn.draw(plan, folder, changed)
    claims = folder / "claims.csv"
    if changed:
        claims.unlink(missing_ok=True)  # so that the next try judges if this one is killed while it does
    write_rows(folder / published.RUNS, [*_rows(folder, before, new)])
    if not claims.exists():
        redrawn.judge(redrawn.plan_of(root, published.runs(folder)), folder)
    said = f"{len(changed)} exhibits of {', '.join(papers) or 'no paper'} at scale {scale} are new or changed"
    return f"{said}: {_size(folder):.1f} MB in {published.FOLDER}/{''.join(refused)}"


def commit_of(root: Path) -> str:
    """The commit that the code is at; an error if files of it are changed."""
    changed = _git(root, "status", "--porcelain", "--", *CODE).splitlines()
    if changed:
        files = ", ".join(line[3:] for line in changed[:5])
        raise InputError(
            "publish.commit", f"there are uncommitted changes ({files})", "expected a run of committed code"
        )
    return _git(root, "rev-parse", "HEAD").strip()


def hours(plan: Plan, paper: str, logs: Path) -> float:
    """Hours of a paper on this machine: the seconds of all jobs that it needs, divided by the number of cores.

    Seconds are those that Snakemake timed, of one core each. What papers share counts in each of them.
    """
    return sum(sum(job.seconds(logs)) for job in jobs(plan, paper)) / 3600 / (os.cpu_count() or 1)


def _finished(plan: Plan, results: Path, scale: str) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    """The cells of each exhibit that has any at the scale."""
    for paper, name, _ in plan.exhibits():
        file = results / "cells" / paper / f"{name}.csv"
        table = redrawn.read(file) if file.exists() else pd.DataFrame()
        if "scale" in table and len(own := table[table["scale"] == scale]):
            yield (paper, name), own


def _refuse_weaker(finished: dict[tuple[str, str], pd.DataFrame], folder: Path) -> list[str]:
    """Leave out cells of generated data or of a sample where more of the dataset is published, and say so."""
    facts = [read_json(file) for file in sorted((folder / "data").glob("*.json"))]
    provenance = {own["name"]: own["provenance"] for own in facts}
    gone: dict[str, None] = {}
    for key, table in list(finished.items()):
        weaker = merge.weaker(table, provenance)
        gone |= dict.fromkeys(table.loc[weaker, "dataset"])
        finished[key] = table[~weaker]
        if finished[key].empty:
            del finished[key]
    return [f"; left out is {', '.join(gone)}, of which more is published than a sample or stand-in"] if gone else []


def _of_fewer_seeds(finished: Mapping[tuple[str, str], pd.DataFrame], folder: Path) -> list[str]:
    """Say of which setups cells are left out for they are of fewer seeds than those there (`merge`)."""
    setups: dict[str, None] = {}
    for (paper, name), table in finished.items():
        if (file := published.cells(folder, paper, name)).exists():
            setups |= dict.fromkeys(table.loc[merge.of_fewer(redrawn.read(file), table), "setup"])
    return [f"; left out are cells of {', '.join(setups)} of fewer seeds than the published ones"] if setups else []


def _setups(finished: Mapping[tuple[str, str], pd.DataFrame]) -> list[str]:
    return list(dict.fromkeys(setup for table in finished.values() for setup in table["setup"] if setup))


def _check(files: Iterable[Path]) -> None:
    for file in files:
        if not file.exists():
            raise InputError(f"publish.{file}", "is not there", "finish the run first")


def _merge(plan: Plan, folder: Path, paper: str, name: str, table: pd.DataFrame) -> bool:
    """Write an exhibit's cells with new ones; whether anything is of this run, or gone."""
    file = folder / "cells" / paper / f"{name}.csv{published.PACKED}"
    old = redrawn.read(file) if file.exists() else pd.DataFrame()
    found = merge.merged(old, table, plan.papers[paper]["exhibits"][name], plan.scales)
    if found.equals(old):
        return bool((found[RUN] == table[RUN].iloc[0]).any())  # the run has no row yet: it was killed in between
    with replacing(file) as temporary:
        content = found.to_csv(index=False, lineterminator="\n").encode()
        temporary.write_bytes(gzip.compress(content, mtime=0))  # the same bytes each time
    return True


def _drop_gone(plan: Plan, folder: Path, paper: str) -> None:
    """Remove what is there of exhibits that the paper has no more."""
    for file in [*(folder / "exhibits" / paper).glob("*"), *(folder / "cells" / paper).glob("*")]:
        if file.name.partition(".")[0] not in plan.papers[paper]["exhibits"]:
            file.unlink()


def _rows(
    folder: Path, before: Mapping[str, list[dict[str, str]]], new: Mapping[str, dict[str, str]]
) -> Iterator[dict]:
    """The rows of runs.csv: of each run of a paper that cells are of, in the order of the runs."""
    rows = [row for own in before.values() for row in own] + [*new.values()]
    used = {paper: _runs_of_cells(folder, paper) for paper in {row["paper"] for row in rows}}
    yield from sorted((row for row in rows if row[RUN] in used[row["paper"]]), key=lambda row: int(row[RUN]))


def _runs_of_cells(folder: Path, paper: str) -> set[str]:
    files = (folder / "cells" / paper).glob(f"*{published.PACKED}")
    return {run for file in files for run in pd.read_csv(file, usecols=[RUN], dtype=str)[RUN]}


def _part(config: dict[str, Any], scale: str, paper: str, finished: Mapping[tuple[str, str], pd.DataFrame]) -> Plan:
    """The plan of what is finished of a paper."""
    setups = _setups({key: table for key, table in finished.items() if key[0] == paper})
    return Plan(config | {"scale": scale, "papers": [paper], "only": {"setups": setups}})


def _made(part: Plan, plan: Plan, paper: str, logs: Path) -> dict[str, str]:
    """A row of runs.csv, without run and commit."""
    made = {"paper": paper, "scale": part.scale, "seeds": str(len(part.seeds)), "code": code.of_numbers(plan, paper)}
    made |= {"date": str(date.today()), "machine": ", ".join([processor(), *gpus()]), "cores": str(os.cpu_count())}
    return made | {"hours": f"{hours(part, paper, logs):.2f}", "versions": versions(*PACKAGES)}


def _size(folder: Path) -> float:
    """Of all files, in MB; an error if it is too much."""
    found = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
    if found > LIMIT:
        raise InputError(f"publish.{folder}", f"takes {found:.1f} MB", f"at most {LIMIT} are committed")
    return found


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise InputError("publish.commit", done.stderr.strip() or "git failed", "expected a git repository")
    return done.stdout


if __name__ == "__main__":
    try:
        given = sys.argv[1:] or [yamls.read(Path("params.yaml"), "params.yaml")["scale"]]
        print(publish(Path("."), commit_of(Path(".")), given[0]))
    except InputError as error:
        sys.exit(f"error: {error}")
