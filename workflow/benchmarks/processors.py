"""What another kind of processor changes in the tables of scale quick.

    git clone . ../other && cd ../other
    export OPENBLAS_CORETYPE=SKYLAKEX ATEN_CPU_CAPABILITY=avx2
    export ONEDNN_MAX_CPU_ISA=AVX2 MKL_ENABLE_INSTRUCTIONS=AVX2
    make results

runs all in a second folder with the kernels that numpy and torch have for another processor (or run it on one). After
`make results` here, `python workflow/benchmarks/processors.py ../other "how the other was run"` compares the two and
writes a table beside this file. Tables of times of steps are left out.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pandas as pd
from machine import machine
from table import markdown, write

PAPERS = ["chebyshev", "marvell", "secdt", "tcpo", "tappfl"]
CELLS = Path("results/cells")
TIMED = {CELLS / "secdt/figure8.csv", CELLS / "tappfl/table1_times.csv"}
SHARE = "accuracy|auc|utility$"  # metrics from 0 to 1


def moved(here: Path, there: Path) -> float:
    """By how much such a metric of an exhibit differs at most."""
    mine, other = (pd.read_csv(file, low_memory=False) for file in (here, there))
    shares = mine["metric"].str.contains(SHARE)
    gaps = (mine["value"] - other["value"])[shares].abs()
    return float(gaps.max()) if shares.any() else 0.0


def verdicts(folder: Path, paper: str) -> pd.Series:
    """The verdicts on a paper's claims and numbers, in the order of the ledger."""
    rows = pd.read_csv(folder / "results/claims.csv")
    return rows.loc[rows["paper"] == paper, "verdict"]


def row(paper: str, here: Path, there: Path) -> list[Any]:
    """A paper's row of the table."""
    tables = sorted(set((here / CELLS / paper).glob("*.csv")) - {here / file for file in TIMED})
    pairs = [(table, there / table.relative_to(here)) for table in tables]
    differ = [pair for pair in pairs if pair[0].read_bytes() != pair[1].read_bytes()]
    largest = max((moved(*pair) for pair in differ), default=0.0)
    mine, other = verdicts(here, paper), verdicts(there, paper)
    changed = int(mine.ne(other).sum())
    return [paper, len(pairs), len(differ), f"{largest:.3f}", len(mine), changed]


def main(there: Path, how: str) -> None:
    """Write the table."""
    columns = ["paper", "tables", "differ", "largest difference of an accuracy, utility or AUC", "verdicts", "differ"]
    write(
        __file__,
        "The tables of scale quick on another kind of processor",
        machine("torch", "numpy", "scipy") + f" The other: {how}.",
        "Times of steps are left out; verdicts on them are not.",
        markdown(columns, (row(paper, Path(), there) for paper in PAPERS), "l>>>>>"),
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
