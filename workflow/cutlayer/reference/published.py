"""Contents of reference/. Papers are run and published one by one, so that some may be missing.

Imports no numerical library: the Snakefile asks which files there are.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cutlayer.plan import parts

FOLDER, RUNS = Path("reference"), "runs.csv"
PACKED = ".gz"  # cells, a row per seed, take a tenth of their bytes so
TABLE = "table"  # the way to draw that also writes markdown, of which no picture is published


def runs(folder: Path) -> dict[str, list[dict[str, str]]]:
    """Paper -> the runs that its cells are of; empty where nothing is published.

    A run has a number, which cells have, a scale, commit, date, machine and hours.
    """
    found: dict[str, list[dict[str, str]]] = {}
    if (folder / RUNS).exists():
        with (folder / RUNS).open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                found.setdefault(row["paper"], []).append(row)
    return found


def all_files(folder: Path) -> list[str]:
    """Every file, sorted."""
    return sorted(str(file) for file in folder.rglob("*") if file.is_file()) if runs(folder) else []


def kinds_of(exhibit: Mapping[str, Any]) -> list[str]:
    """The kinds of an exhibit's files that are published, beside its cells."""
    return ["csv", "md" if exhibit["draw"]["use"] == TABLE else "png"]


def files_of(paper: str, name: str, exhibit: Mapping[str, Any]) -> list[str]:
    """The files of an exhibit that are published, as they lie under reference/; `source` says where they are from."""
    drawn = [f"exhibits/{paper}/{name}.{kind}" for kind in kinds_of(exhibit)]
    return [*drawn, f"cells/{paper}/{name}.csv{PACKED}"]


def written(markdown: str) -> list[list[str]]:
    """Names of the columns, and then the lines, of a table that was written as markdown."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    head, _, *body = [[part.strip() for part in line[1:-1].split("|")] for line in lines]
    return [head, *body]


def source(file: str) -> str:
    """Under results/, of a file under reference/."""
    return file.removesuffix(PACKED)


def cells(folder: Path, paper: str, name: str) -> Path:
    """The cells of an exhibit, under reference/ or under results/."""
    file = folder / "cells" / paper / f"{name}.csv"
    packed = file.with_name(file.name + PACKED)
    return packed if packed.exists() else file


def available(folder: Path, papers: Mapping[str, Any]) -> dict[str, Any]:
    """The papers with a published run, each with its published exhibits and the claims on these.

    A paper.yaml may have more by now than when its run was published.
    """
    known = runs(folder)
    return {name: _available(folder, name, content) for name, content in papers.items() if name in known}


def _available(folder: Path, paper: str, content: Mapping[str, Any]) -> dict[str, Any]:
    exhibits = {
        name: exhibit
        for name, exhibit in content["exhibits"].items()
        if all((folder / file).exists() for file in files_of(paper, name, exhibit))
    }
    return parts.with_exhibits(content, exhibits)


def is_newer(exhibit: Mapping[str, Any], table: Any) -> bool:
    """Whether an exhibit declares setups, defenses, attacks or sets of attacks that its table does not have."""
    attacks = exhibit["worst"]["among"] if "worst" in exhibit else exhibit.get("attacks", ())
    declared = {"setup": exhibit.get("setups", ()), "defense": exhibit.get("defenses", ()), "attack": attacks}
    return any(set(names) - set(table[kind]) for kind, names in declared.items() if (table[kind] != "").any())
