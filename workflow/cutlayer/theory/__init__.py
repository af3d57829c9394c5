"""Theory: what the papers prove, as functions (`<paper>.py`) and as measurements (`<paper>_measures.py`)."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..artifacts import read_arrays, write_rows
from ..progress import steps


def measure(
    paper: str,
    setup: str,
    transcripts: Sequence[str | Path],
    truths: Sequence[str | Path],
    output: str | Path,
) -> None:
    """Write a paper's measured quantities for every seed of an undefended run, in the shape of scores."""
    from ..transcript import FailedRun, load

    measures = importlib.import_module(f"cutlayer.theory.{paper}_measures")
    pairs = list(zip(transcripts, truths, strict=True))
    rows: list[dict[str, Any]] = []
    for seed, (seen, true) in enumerate(steps(pairs, f"theory {paper}/{setup}")):
        who = {"setup": setup, "defense": "none", "seed": seed}
        try:
            (arrays,) = load(seen).values()
        except FailedRun as run:
            rows.append(who | {"metric": "", "value": None, "skipped": str(run)})
            continue
        rows += [who | row for row in measures.measure(arrays, read_arrays(true)[0])]
    write_rows(output, rows)
