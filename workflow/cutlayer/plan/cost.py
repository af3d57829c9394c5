"""`make plan SCALE=reference`: the jobs, hours and gigabytes of a scale, before it runs.

reference/seconds.csv has what the jobs of runs took that have ended, by setup and kind: the seconds of a piece, which
is a training or an attack (see `Job`), and those of a yardstick on the same machine. An estimate is pieces x seconds,
times how much longer this machine takes for the yardstick. A row is of a setup with the same sizes; with other rows,
epochs or rounds the estimate is in proportion. What has no row is named and not counted.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pandas as pd

from cutlayer.core import yamls
from cutlayer.core.errors import InputError
from cutlayer.core.machine import yardstick

from .jobs import Job, jobs
from .plan import Plan
from .sweeps import fixed_of

TABLE = Path("reference/seconds.csv")
PROPORTIONAL = ("rows", "epochs", "rounds", "local_epochs")
ATTACKING = ("attack", "match", "vulnerable")  # kinds of jobs that depend on sizes of attacks, too
Row = Mapping[str, str]


def read(table: Path) -> list[Row]:
    """The rows of a table; none where there is none."""
    if not table.exists():
        return []
    with table.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def by_setup(plan: Plan) -> dict[tuple[str, str], list[Job]]:
    """(setup, kind) -> the jobs of all papers; normalising data is of no setup."""
    found: dict[tuple[str, str], list[Job]] = {}
    for job in sorted(set[Job]().union(*(jobs(plan, paper) for paper in plan.papers)), key=lambda job: job.log):
        if job.kind != "normalise":
            found.setdefault((job.setup, job.kind), []).append(job)
    return found


def sizes(plan: Plan, setup: str, kind: str) -> tuple[str, int]:
    """A checksum of a setup's sizes, and rows x epochs, which are left out of it."""
    own = plan.setups[setup]
    fixed = {key: "" if key in PROPORTIONAL else value for key, value in own.items()}
    over = plan.sizes.get("attacks", {}) if kind in ATTACKING else {}
    efforts = {name: fixed_of(over[name]) for name in over if not plan.variants.missing("attack", name, [setup])}
    text = json.dumps([fixed, efforts], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8], math.prod(own.get(key, 1) for key in PROPORTIONAL)


def costs(plan: Plan, rows: Sequence[Row], unit: float) -> pd.DataFrame:
    """A row for each setup and kind of job; `unit` is what the yardstick takes, in seconds.

    `hours` are of one core, `GB` what runs leave, not known where transcripts were deleted; both only where `recorded`
    names a scale.
    """
    return pd.DataFrame([_cost(plan, rows, unit, *case) for case in by_setup(plan).items()])


def _cost(plan: Plan, rows: Sequence[Row], unit: float, case: tuple[str, str], own: Sequence[Job]) -> dict[str, Any]:
    digest, work = sizes(plan, *case)
    same = [row for row in rows if (row["setup"], row["kind"], row["sizes"]) == (*case, digest)]
    found = {"setup": case[0], "kind": case[1], "jobs": sum(job.files for job in own), "recorded": ""}
    if not same:
        return found
    row, pieces = max(same, key=lambda row: row["scale"] == plan.scale), sum(job.files * job.pieces for job in own)
    times, slower = work / int(row["work"]), unit / float(row["yardstick"])
    passing = plan.temporary(case[0]) or not row["megabytes"]
    return found | {
        "recorded": row["scale"] + (f" x {times:.3g}" if times != 1 else ""),
        "hours": pieces * float(row["seconds"]) * times * slower / 3600,
        "GB": math.nan if passing else pieces * float(row["megabytes"]) / 1000,
        "speed": f"{slower:.2f} ({row['machine']})",
    }


def text(plan: Plan, found: pd.DataFrame, cores: int) -> str:
    """The report: the sums, what they leave out, and a table by setup, the longest first."""
    known, lacking = found[found["recorded"] != ""], found[found["recorded"] == ""]
    lines = [f"Scale {plan.scale}, {len(plan.seeds)} seeds: {found['jobs'].sum():,} jobs."]
    if not lacking.empty:
        names = [f"{setup} ({', '.join(own['kind'])})" for setup, own in lacking.groupby("setup")]
        lines.append(f"Not recorded, and not counted, are {lacking['jobs'].sum():,} of them: {', '.join(names)}.")
    if known.empty:
        return "\n".join(lines)
    table = known.groupby(["setup", "recorded"], as_index=False)[["jobs", "hours", "GB"]].sum()
    table["hours"] /= cores
    reduced = table["setup"].isin(cast(Mapping[str, Any], plan.judged_at["reduced"])["setup"])
    table.insert(1, "sizes", reduced.map({True: "reduced", False: "full"}))
    lines += [
        f"A core takes so many times as long as that of the record: {', '.join(sorted({*known['speed']}))}.",
        f"The {table['jobs'].sum():,} jobs that are recorded take {table['hours'].sum():,.2f} hours on {cores} cores "
        f"that do nothing else, and leave {table['GB'].sum():,.1f} GB.",
        "Transcripts that are deleted once their attacks are done do not count, nor do the data and the exhibits.",
        "",
        table.sort_values("hours", ascending=False).to_markdown(index=False, floatfmt=".2f"),
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> str:
    """The report on params.yaml with these keys in place of its own, each as `key=value`."""
    config = yamls.read(Path("params.yaml"), "params.yaml")
    for key, _, value in (argument.partition("=") for argument in arguments):
        config[key] = yamls.load(value, f"make plan {key}")
    plan = Plan(config)
    return text(plan, costs(plan, read(TABLE), yardstick()), os.cpu_count() or 1)


if __name__ == "__main__":
    try:
        print(main(sys.argv[1:]))
    except InputError as error:
        sys.exit(f"error: {error}")
