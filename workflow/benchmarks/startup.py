"""How much of the label papers' jobs is start-up: Python and imports, nothing of the job itself.

`python workflow/benchmarks/startup.py laptop`, in a folder in which nothing but `snakemake marvell secdt --cores
all --config scale=laptop` ran: the seconds of each job are those that Snakemake wrote to logs/. Start-up is timed
here: a script that only imports what such a job does, in a Python of its own and as the workflow runs it, in a child
of a process that has imported the same before (`cutlayer.warm`).
"""

from __future__ import annotations

import csv
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from machine import machine

from launch import warm

IMPORTS = {
    "run": "import torch, cutlayer.runs, cutlayer.protocols.split, cutlayer.models._wide_deep_parts",
    "attack with torch": "import torch, cutlayer.scores, cutlayer.protocols.split, cutlayer.attacks.model_completion",
    "attack": "import cutlayer.scores, cutlayer.protocols.split, cutlayer.attacks.hint",
    "times": "import torch, cutlayer.times, cutlayer.models._wide_deep_parts, cutlayer.defenses.secdt",
    "theory": "import cutlayer.theory.marvell_measures",
}
REPEATS = 7


PREAMBLE = "from snakemake import script\nfrom cutlayer import warm\nwarm.up()\n"  # as in each job's script


def started(code: str) -> float:
    """The median seconds of a script that runs `code` and ends, after a first that is not counted."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
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
            (row,) = csv.DictReader(log.open(), delimiter="\t")
            jobs.setdefault(kind(log), []).append(float(row["s"]))
    alone = {name: started(IMPORTS[name]) for name in jobs}
    warm.start()
    cost = {name: started(IMPORTS[name]) for name in jobs}
    total = sum(sum(seconds) for seconds in jobs.values())
    spent = sum(len(seconds) * cost[name] for name, seconds in jobs.items())
    lines = [
        "# Start-up of the jobs of marvell and secdt",
        "",
        f"{machine('torch', 'snakemake')} Scale {scale}.",
        "",
        "| jobs | number | seconds in all | start-up of one (s) | share | in a Python of its own (s) |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name, seconds in jobs.items():
        share = len(seconds) * cost[name] / sum(seconds)
        row = f"| {name} | {len(seconds)} | {sum(seconds):.0f} | {cost[name]:.2f} | {share:.1%} | {alone[name]:.2f} |"
        lines.append(row)
    lines.append(f"| all | {sum(map(len, jobs.values()))} | {total:.0f} | | {spent / total:.1%} | |")
    Path(__file__).with_suffix(".md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
