"""What follows from the cells in reference/: the verdicts, and the files of ledger and exhibits."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import pandas as pd
from PIL import Image

from cutlayer.core import failed_cells, yamls
from cutlayer.core.files import replacing
from cutlayer.core.progress import steps
from cutlayer.ledger import cells, files
from cutlayer.ledger.claims import Scale
from cutlayer.plan.plan import Plan
from cutlayer.plan.sizes import FULL_SCALE
from cutlayer.stages import drawing

from . import published

OLDER = "no run of the reference has such cells: it is older than this, or ran other parts"
COLORS = 256  # of a picture: a third of the bytes, and the eye sees no difference


def plan_of(root: Path, papers: Iterable[str]) -> Plan:
    """Today's plan of these papers, in the order of params.yaml, whole as at the papers' scale."""
    config = yamls.read(root / "params.yaml", "params.yaml")
    wanted = [*papers]
    return Plan(config | {"scale": FULL_SCALE, "papers": sorted(wanted, key=[*config["papers"], *wanted].index)})


def sizes(plan: Plan, folder: Path) -> list[Scale]:
    """The scales that are published, the largest last."""
    there = {run["scale"] for own in published.runs(folder).values() for run in own}
    judging = [cast(dict[str, Any], plan.at(name).judged_at) for name in plan.scales if name in there]
    return [Scale(**one | {"absent": OLDER}) for one in judging]


def judge(plan: Plan, folder: Path) -> pd.DataFrame:
    """Write the verdicts on the cells that are there, and the ledger; the rows as text."""
    claims = judged(plan, folder)
    cells.write(claims, folder / "claims.csv")
    write_ledger(plan, claims, folder)
    return claims


def judged(plan: Plan, folder: Path) -> pd.DataFrame:
    """The rows by today's rules and paper.yaml, as text; there is no result of cells that no run has."""
    content = published.available(folder, plan.papers)
    printed = [plan.folder / "papers" / name / "published.csv" for name in content]
    tables = [published.cells(folder, name, exhibit) for name, own in content.items() for exhibit in own["exhibits"]]
    with tempfile.TemporaryDirectory() as room:
        output = {kind: Path(room) / kind for kind in ("claims", "csv", "md")}
        files.write(content, printed, tables, sizes(plan, folder), output)
        return read(output["claims"])


def read(path: Path) -> pd.DataFrame:
    """The rows of a file as text, so that they are written as they were."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def write_ledger(plan: Plan, claims: pd.DataFrame, folder: Path) -> None:
    """Write ledger.md of these rows."""
    content = published.available(folder, plan.papers)
    tables = [cells.load(published.cells(folder, name, e)) for name, own in content.items() for e in own["exhibits"]]
    failed = dict.fromkeys(line for table in tables for line in failed_cells.listed(table))
    with replacing(folder / "ledger.md") as temporary:
        text = files.markdown(claims, content, sizes(plan, folder), [*failed], f"{published.FOLDER}/claims.csv")
        temporary.write_text(text, encoding="utf-8")


def draw(plan: Plan, folder: Path, names: Iterable[tuple[str, str]]) -> None:
    """Write the files of these exhibits, (paper, name) each."""
    for paper, name in steps([*names], "draw"):
        exhibit = plan.papers[paper]["exhibits"][name]
        with tempfile.TemporaryDirectory() as room:
            kinds = published.kinds_of(exhibit)
            written = {kind: Path(room) / f"{name}.{kind}" for kind in (*kinds, "tex")}
            inputs = {"cells": published.cells(folder, paper, name)}
            inputs["published"] = plan.folder / "papers" / paper / "published.csv"
            drawing.draw((paper, name), exhibit, plan.plot_options(paper, name), inputs, written)
            for kind in kinds:
                _copy(written[kind], folder / f"exhibits/{paper}/{name}.{kind}")


def _copy(source: Path, target: Path) -> None:
    """Copy a file as it is published: of a picture fewer colors."""
    with replacing(target) as temporary:
        if source.suffix == ".png":
            picture = Image.open(source).convert("RGB")
            picture.quantize(COLORS, dither=Image.Dither.NONE).save(temporary, optimize=True)
        else:
            shutil.copyfile(source, temporary)
