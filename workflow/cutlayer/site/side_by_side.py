"""Your site and that of the reference run, linked to each other paper by paper."""

from __future__ import annotations

import contextlib
import multiprocessing
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cutlayer.ledger import overview
from cutlayer.reference import published

from . import build, documents
from .inputs import Inputs, OtherSite, claims

README = "README.md"
INNER = "reference"  # folder in the site


def both(own: Inputs, folder: Path, order: Sequence[str]) -> tuple[Inputs, Inputs | None]:
    """Inputs of your site and of the site of the reference run in `folder`; the second is None if there is none.

    The reference has the papers of your run that are published, at scales in this `order`. The project's texts are in
    your site only.
    """
    papers, runs = published.available(folder, own.papers), published.runs(folder)
    if not papers:
        return own, None
    own = replace(own, finding=documents.finding(README) if README in own.documents else "")
    there = {run["scale"] for name in papers for run in runs[name]}
    datasets = [name for name in own.datasets if (folder / "data" / f"{name}.json").exists()]
    reference = replace(
        own, papers=papers, scales=[scale for scale in order if scale in there], datasets=datasets, results=folder,
        normalised=folder / "data", documents=(), pictures=(), api=False,
    )  # fmt: skip
    rows = claims(reference)
    found = {name: f"{_when(runs[name])}: {overview.decided(rows[rows['paper'] == name])}" for name in papers}
    made = {name: " ".join(_made(run, own.code[name]) for run in runs[name]) for name in papers}
    return (
        replace(own, other=OtherSite("reference run", f"{INNER}/", found), evidence=reference),
        replace(reference, other=OtherSite("your run", "../", made)),
    )


def _when(runs: Sequence[Mapping[str, str]]) -> str:
    latest = {run["scale"]: run["date"] for run in runs}
    return "At " + " and ".join(f"scale {scale}, on {date}" for scale, date in latest.items())


def _made(run: Mapping[str, str], code: str) -> str:
    """Sentence on a run's commit, machine and versions, and on whether the code of its numbers has changed since."""
    text = "Commit {commit:.10}, {date}, {hours} hours on {machine}, {cores} cores; {versions}.".format_map(run)
    changed = run.get("code") not in (None, "", code)
    return f"{text} Code that makes its numbers has changed since." if changed else text


def write(own: Inputs, reference: Inputs | None, folder: Path, cores: int) -> None:
    """Write your site, with that of the reference run in a folder of it; in parallel if there are two cores.

    A former site stays until the new one is complete.
    """
    with _replacing(folder) as new:
        _write(own, reference, new, cores)


@contextlib.contextmanager
def _replacing(folder: Path) -> Iterator[Path]:
    """Yield a new folder that replaces this one on success; remove it on any error."""
    new, old = (folder.with_name(f".{folder.name}.{kind}") for kind in ("new", "old"))
    for left in (new, old):  # by a killed writer
        shutil.rmtree(left, ignore_errors=True)
    try:
        yield new
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    finally:
        for left in (new, old):
            shutil.rmtree(left, ignore_errors=True)


def _write(own: Inputs, reference: Inputs | None, folder: Path, cores: int) -> None:
    if not reference:
        return build.write(own, folder)
    inner = folder / INNER
    if cores == 1:
        build.write(own, folder)
        return build.write(reference, inner)
    process = multiprocessing.get_context("fork").Process(target=build.write, args=(reference, inner))
    process.start()
    try:
        build.write(own, folder)
    finally:
        process.join()  # nothing is written once this has ended
    if process.exitcode:
        raise RuntimeError("the site of the reference run was not written, see above")
