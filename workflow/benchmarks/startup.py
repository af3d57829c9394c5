"""How much of the label papers' jobs is start-up: Python and imports, nothing of the job itself.

`python workflow/benchmarks/startup.py reference`, in a folder in which nothing but `snakemake marvell secdt --cores
all --config scale=reference` ran: the seconds of each job are those that Snakemake wrote to logs/. Start-up is timed
here: a script that only imports what such a job does, in a Python of its own and as the workflow runs it, in a child
of a process that has imported the same before (`launch.warm`).
"""

from __future__ import annotations

import csv
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from machine import machine
from table import markdown, write

from launch import warm

SCORED = "cutlayer.stages.scores, cutlayer.games.split.protocol"
IMPORTS = {
    "run": "import torch, cutlayer.stages.runs, cutlayer.games.split.protocol, cutlayer.games.split.models.wide_deep",
    "attack with torch": f"import torch, {SCORED}, cutlayer.games.split.attacks.model_completion",
    "attack": f"import {SCORED}, cutlayer.games.split.attacks.hint",
    "times": "import torch, cutlayer.stages.times, cutlayer.games.split.models.wide_deep",
    "theory": "import cutlayer.stages.measures.marvell",
}
REPEATS = 7


PREAMBLE = "from launch.warm_client import up\nup()\nfrom snakemake import script\n"  # as a job does


def started(code: str) -> float:
    """The median seconds of a script that runs `code` and ends, after a first that is not counted."""
    with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8") as script:
        script.write(PREAMBLE + code)
        script.flush()
        seconds = []
        for repeat in range(REPEATS + 1):
            start = time.perf_counter()
            subprocess.run([sys.executable, script.name], check=True)
            seconds.append(time.perf_counter() - start)
            time.sleep(0 if repeat else 3)  # the server imports what the first one did
    return statistics.median(seconds[1:])


def kind(log: Path) -> str:
    """The kind of job that a file of `logs/` is about."""
    first = log.relative_to("logs").parts[0]
    return "attack with torch" if log.name.startswith("model_completion.") else first


def main(scale: str) -> None:
    """Write the table."""
    jobs: dict[str, list[float]] = {}
    for log in sorted(Path("logs").rglob("*.benchmark.tsv")):
        if kind(log) in IMPORTS:
            (row,) = csv.DictReader(log.open(encoding="utf-8"), delimiter="\t")
            jobs.setdefault(kind(log), []).append(float(row["s"]))
    alone = {name: started(IMPORTS[name]) for name in jobs}
    warm.start()
    cost = {name: started(IMPORTS[name]) for name in jobs}
    total = sum(sum(seconds) for seconds in jobs.values())
    spent = sum(len(seconds) * cost[name] for name, seconds in jobs.items())
    rows: list[list[Any]] = []
    for name, seconds in jobs.items():
        share = len(seconds) * cost[name] / sum(seconds)
        row = [name, len(seconds), f"{sum(seconds):.0f}", f"{cost[name]:.2f}", f"{share:.1%}", f"{alone[name]:.2f}"]
        rows.append(row)
    rows.append(["all", sum(map(len, jobs.values())), f"{total:.0f}", "", f"{spent / total:.1%}", ""])
    columns = ["jobs", "number", "seconds in all", "start-up of one (s)", "share", "in a Python of its own (s)"]
    write(
        __file__,
        "Start-up of the jobs of marvell and secdt",
        f"{machine('torch', 'snakemake')} Scale {scale}.",
        markdown(columns, rows, "l>>>>>"),
    )


if __name__ == "__main__":
    main(sys.argv[1])
