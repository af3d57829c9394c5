"""`make publish`: put the finished run in results/ into reference/, paper by paper.

Its papers and its scale are those of results/claims.csv. Papers that were published before stay as they are, and all
are of one scale. What is written: claims.csv and ledger.md of all papers, `exhibits/` and `cells/` of each, the facts
of each dataset with the checksums of its files (`data/`), runs.csv, what each paper's run was made with, and
seconds.csv, what its jobs took.
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
from typing import Any, cast

import pandas as pd
from PIL import Image

from cutlayer.core import failed_cells, yamls
from cutlayer.core.artifacts import write_rows
from cutlayer.core.errors import InputError
from cutlayer.core.files import replacing
from cutlayer.core.machine import processor, versions
from cutlayer.core.progress import steps
from cutlayer.ledger import cells, files
from cutlayer.ledger.claims import Scale
from cutlayer.plan import code, cost
from cutlayer.plan.jobs import jobs
from cutlayer.plan.plan import Plan

from . import published, seconds

CODE = ("Snakefile", "rules", "workflow", "params.yaml")  # what results depend on besides data and packages
PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "torch", "cvxpy", "matplotlib")
LIMIT = 25  # MB that are committed
COLORS = 256  # of a picture: a third of the bytes, and the eye sees no difference


def publish(root: Path, commit: str) -> str:
    """Publish the run in a workflow's folder, and say in a sentence what was."""
    results, folder = root / "results", root / published.FOLDER
    claims, before = _claims(results / "claims.csv"), published.runs(folder)
    own, scale = list(dict.fromkeys(claims["paper"])), _scale(claims)
    config = yamls.read(root / "params.yaml", "params.yaml")
    order = [*dict.fromkeys([*(name for name in config["papers"] if name in {*own, *before}), *own, *before])]
    plan = Plan(config | {"scale": scale, "papers": order})
    kept = [name for name in before if name not in own]
    _check_scale(plan, {before[name]["scale"] for name in kept})
    copies = dict(_copies(plan, own, root))
    _check(copies, scale)

    _copy(copies, own, folder)
    if kept:
        rest = _claims(folder / "claims.csv")
        claims = pd.concat([claims, rest[rest["paper"].isin(kept)]])
    claims = claims.sort_values("paper", key=lambda names: names.map(order.index), kind="stable")
    cells.write(claims, folder / "claims.csv")
    made = {name: _run(plan, name, commit, root / "logs") for name in own}
    write_rows(folder / published.RUNS, [(before | made)[name] for name in order])
    seconds.record(Plan(config | {"scale": scale, "papers": own}), root, root / cost.TABLE)
    write_ledger(plan, claims, folder)
    return f"{', '.join(own)} at scale {scale}: {_size(folder):.1f} MB in {published.FOLDER}/"


def commit_of(root: Path) -> str:
    """The commit that the code is at; an error if files of it are changed."""
    changed = _git(root, "status", "--porcelain", "--", *CODE).splitlines()
    if changed:
        told = ", ".join(line[3:] for line in changed[:5])
        raise InputError(
            "publish.commit", f"there are uncommitted changes ({told})", "expected a run of committed code"
        )
    return _git(root, "rev-parse", "HEAD").strip()


def hours(plan: Plan, paper: str, logs: Path) -> float:
    """What a paper takes of this machine: the seconds of all jobs that it asks for, over all cores, in hours.

    Seconds are those that Snakemake timed, of one core each. What papers share counts in each of them.
    """
    return sum(sum(job.seconds(logs)) for job in jobs(plan, paper)) / 3600 / (os.cpu_count() or 1)


def _claims(path: Path) -> pd.DataFrame:
    """The rows of a claims.csv as text, so that they are written as they were."""
    if not path.exists():
        raise InputError(f"publish.{path}", "is not there", "a finished run is published")
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def _scale(claims: pd.DataFrame) -> str:
    found = list(dict.fromkeys(claims["scale"]))
    if len(found) != 1:
        raise InputError("publish.scale", f"results/claims.csv has {' and '.join(found) or 'none'}", "expected one")
    return str(found[0])


def _check_scale(plan: Plan, others: Iterable[str]) -> None:
    """Raise unless the scale judges all printed numbers, and is that of the papers that stay."""
    if not plan.judged_at["numbers"]:
        raise InputError("publish.scale", f"{plan.scale} judges no printed numbers", "expected a run of a larger one")
    for other in others:
        if other != plan.scale:
            allowed = f"expected a run at that scale; for another one remove {published.FOLDER}/ first"
            raise InputError("publish.scale", f"{plan.scale} beside papers at scale {other}", allowed)


def _copies(plan: Plan, papers: Iterable[str], root: Path) -> Iterator[tuple[str, Path]]:
    """Where under reference/ -> which file, of these papers."""
    for paper in papers:
        for name, exhibit in plan.papers[paper]["exhibits"].items():
            for file in published.files_of(paper, name, exhibit):
                yield file, root / "results" / published.source(file)
            for setup in exhibit["setups"]:
                dataset = plan.setups[setup]["dataset"]
                yield f"data/{dataset}.json", root / f"data/normalised/{dataset}.json"


def _check(copies: Mapping[str, Path], scale: str) -> None:
    """Raise unless all files are there, and tables are of this scale."""
    for target, source in copies.items():
        if not source.exists():
            raise InputError(f"publish.{source}", "is not there", f"finish the run at scale {scale} first")
        if target.startswith("exhibits/") and source.suffix == ".csv":
            found = set(pd.read_csv(source, usecols=["scale"], dtype=str)["scale"]) - {scale}
            if found:
                raise InputError(f"publish.{source}", f"is of scale {', '.join(found)}", f"expected {scale}")


def _copy(copies: Mapping[str, Path], papers: Iterable[str], folder: Path) -> None:
    """Copy files in place of all that the papers had."""
    for paper in papers:
        for part in ("exhibits", "cells"):
            shutil.rmtree(folder / part / paper, ignore_errors=True)
    for target, source in steps([*copies.items()], "publish"):
        if target.endswith(published.PACKED):
            with replacing(folder / target) as temporary:
                temporary.write_bytes(gzip.compress(source.read_bytes(), mtime=0))  # the same bytes each time
        else:
            copy(source, folder / target)


def copy(source: Path, target: Path) -> None:
    """Copy a file as it is published: of a picture fewer colors."""
    with replacing(target) as temporary:
        if source.suffix == ".png":
            picture = Image.open(source).convert("RGB")
            picture.quantize(COLORS, dither=Image.Dither.NONE).save(temporary, optimize=True)
        else:
            shutil.copyfile(source, temporary)


def write_ledger(plan: Plan, claims: pd.DataFrame, folder: Path) -> None:
    """Write ledger.md of these rows."""
    content, judged_at = published.shown(folder, plan.papers), cast(dict[str, Any], plan.judged_at)
    tables = [cells.load(published.cells(folder, name, e)) for name, own in content.items() for e in own["exhibits"]]
    failed = dict.fromkeys(line for table in tables for line in failed_cells.listed(table))
    with replacing(folder / "ledger.md") as temporary:
        text = files.markdown(claims, content, Scale(**judged_at), [*failed], f"{published.FOLDER}/claims.csv")
        temporary.write_text(text, encoding="utf-8")


def _run(plan: Plan, paper: str, commit: str, logs: Path) -> dict[str, str]:
    """A row of runs.csv."""
    made = {"paper": paper, "scale": plan.scale, "seeds": str(len(plan.seeds)), "commit": commit}
    made |= {"code": code.of_numbers(plan, paper)}
    made |= {"date": str(date.today()), "machine": processor(), "cores": str(os.cpu_count())}
    return made | {"hours": f"{hours(plan, paper, logs):.2f}", "versions": versions(*PACKAGES)}


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
        print(publish(Path("."), commit_of(Path("."))))
    except InputError as error:
        sys.exit(f"error: {error}")
