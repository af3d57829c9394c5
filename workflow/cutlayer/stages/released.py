"""Released transcripts: what the arena's runs of scale quick showed, and an attack judged on them, without any run.

The files lie in a folder as they do in a checkout, see `files`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cutlayer.core.errors import InputError
from cutlayer.ledger import cells, tried
from cutlayer.plan.outside import ARENA, PAPER
from cutlayer.plan.plan import Plan

from . import drawing, scores

SCALE = "quick"
DATA = "data/normalised"
TABLES = ("scores", "utility")


def files(plan: Plan) -> tuple[list[str], list[str]]:
    """What adversaries saw of the arena's runs, and what judges their guesses, as paths in a checkout.

    The latter is the truth, the utility of the runs, the scores of the arena's attacks, and facts of the data.
    """
    exhibits = plan.papers[ARENA]["exhibits"].values()
    runs = sorted({run for exhibit in exhibits for run in plan.runs(exhibit)})
    seen, truth = ([file for run in runs for file in _of_run(plan, *run, part)] for part in ("transcript", "truth"))
    tables = {file for exhibit in exhibits for source in TABLES for file in plan.files(ARENA, exhibit, source)}
    facts = {f"{DATA}/{plan.setups[setup]['dataset']}.json" for exhibit in exhibits for setup in exhibit["setups"]}
    return seen, [*truth, *sorted(tables), *sorted(facts)]


def judge(plan: Plan, folder: Path, output: Path) -> list[Path]:
    """Run the attacks outside the tree on the transcripts in `folder`; return the sentence on each, as text files.

    `output` gets the same table, pictures and sentence of each attack as `make try` makes on runs of one's own.
    """
    return [_judged(plan, name, exhibit, folder, output) for name, exhibit in plan.tried.items()]


def _judged(plan: Plan, name: str, exhibit: Mapping[str, Any], folder: Path, output: Path) -> Path:
    tables = [file for source in TABLES for file in plan.files(PAPER, exhibit, source)]
    own = {file for file in plan.files(PAPER, exhibit, "scores") if plan.outside.has("attack", Path(file).stem)}
    datasets = {setup: plan.setups[setup]["dataset"] for setup in exhibit["setups"]}
    _check(folder, [file for file in tables if file not in own] + [f"{DATA}/{name}.json" for name in datasets.values()])
    with TemporaryDirectory() as scored:
        for file in sorted(own):
            _score(plan, file, folder, Path(scored))
        paths = [(Path(scored) if file in own else folder) / file for file in tables]
        table = cells.gather(paths, folder / DATA, datasets, exhibit)
    files = {kind: output / f"{name}.{kind}" for kind in ("csv", "png", "pdf", "cells.csv", "txt")}
    cells.write(table.assign(scale=plan.scale), files["cells.csv"])
    drawing.draw((PAPER, name), exhibit, plan.plot_options(PAPER, name), {"cells": files["cells.csv"]}, files)
    tried.write(*plan.outside.subject(name), exhibit, files["cells.csv"], files["txt"])
    return files["txt"]


def _score(plan: Plan, table: str, folder: Path, output: Path) -> None:
    """Run one attack on one run; its table of scores goes to its place under `output`."""
    setup, defense, attack = Path(table).with_suffix("").parts[-3:]
    seen, truth = (_of_run(plan, setup, defense, part) for part in ("transcript", "truth"))
    _check(folder, [*seen, *truth])
    given, true = ([folder / file for file in files] for files in (seen, truth))
    methods, protocol = {attack: plan.attacks[attack]}, plan.setups[setup]["protocol"]
    scores.score(setup, defense, protocol, methods, given, true, plan.seeds, [output / table])


def _of_run(plan: Plan, setup: str, defense: str, part: str) -> list[str]:
    return [f"results/runs/{setup}/{defense}/seed{seed}.{part}.safetensors" for seed in plan.seeds]


def _check(folder: Path, needed: Iterable[str]) -> None:
    for file in needed:
        if not (folder / file).is_file():
            expected = "expected what `make release` packs of this version: transcripts and truth, in one folder"
            raise InputError("make try", f"{folder} has no {file}", expected)
