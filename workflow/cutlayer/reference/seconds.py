"""`make seconds`: what the jobs of the finished run in results/ took, into the table that `make plan` reads."""

from __future__ import annotations

import sys
from pathlib import Path

from cutlayer.core import yamls
from cutlayer.core.artifacts import write_rows
from cutlayer.core.errors import InputError
from cutlayer.core.machine import processor, yardstick
from cutlayer.plan import cost
from cutlayer.plan.jobs import Job
from cutlayer.plan.plan import Plan


def record(plan: Plan, root: Path, table: Path) -> str:
    """Write a row for each setup and kind of job of a run; those of other scales and setups stay.

    So do those of more jobs of the same sizes: a part of a run may be what takes longest.
    """
    rows = {(row["scale"], row["setup"], row["kind"]): row for row in cost.read(table)}
    before = dict(rows)
    machine = {"machine": processor(), "yardstick": f"{yardstick():.3f}"}
    for (setup, kind), own in cost.by_setup(plan).items():
        if ended := [(job, took) for job in own if (took := job.seconds(root / "logs"))]:
            pieces = sum(len(took) * job.pieces for job, took in ended)
            stays = "" if plan.temporary(setup) else f"{sum(_megabytes(job, root) for job, _ in ended) / pieces:.4g}"
            digest, work = cost.sizes(plan, setup, kind)
            old = before.get((plan.scale, setup, kind))
            if old and old["sizes"] == digest and int(old["pieces"]) > pieces:
                continue
            row = {"scale": plan.scale, "setup": setup, "kind": kind, "sizes": digest, "work": str(work)}
            row |= {"pieces": str(pieces), "seconds": f"{sum(sum(took) for _, took in ended) / pieces:.4g}"}
            rows[plan.scale, setup, kind] = row | {"megabytes": stays} | machine
    if rows:
        write_rows(table, [rows[key] for key in sorted(rows)])
    return f"{sum(before.get(key) != row for key, row in rows.items())} rows of scale {plan.scale} in {table}"


def _megabytes(job: Job, root: Path) -> float:
    """What a run leaves; other jobs leave tables, which are small."""
    folder = root / "results" / job.log.partition(".")[0].replace("run/", "runs/", 1)
    return sum(file.stat().st_size for file in folder.glob("*.safetensors")) / 1e6 if job.kind == "run" else 0.0


def main(root: Path) -> str:
    """Record the seconds of a finished run, whose scale and papers results/claims.csv names."""
    claims = cost.read(root / "results/claims.csv")
    if not claims:
        raise InputError("seconds.results/claims.csv", "is not there", "expected a finished run")
    own = {"scale": claims[0]["scale"], "papers": list(dict.fromkeys(row["paper"] for row in claims))}
    plan = Plan(yamls.read(root / "params.yaml", "params.yaml") | own)
    return record(plan, root, root / cost.TABLE)


if __name__ == "__main__":
    try:
        print(main(Path(".")))
    except InputError as error:
        sys.exit(f"error: {error}")
