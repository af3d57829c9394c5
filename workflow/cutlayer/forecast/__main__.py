"""`python -m cutlayer.forecast [key=value ...] [target ...]`: what will run, and how long it will take.

Keys are those of params.yaml at its top level, such as scale; targets those of Snakemake, all by default. The data must
be there (`snakemake data`).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import torch
import yaml

from cutlayer.core.errors import InputError
from cutlayer.core.progress import steps
from cutlayer.plan.plan import Plan

from . import report
from .estimates import estimates
from .jobs import jobs
from .store import Store
from .trials import Trials

KEPT = Path("logs/trials.json")
SNAKEMAKE = [sys.executable, "-m", "snakemake", "--summary"]


def main(arguments: list[str]) -> str:
    """The report."""
    torch.set_num_threads(1)
    said = [argument for argument in arguments if "=" in argument]
    targets = [argument for argument in arguments if "=" not in argument] or ["all"]
    config = yaml.safe_load(Path("params.yaml").read_text(encoding="utf-8"))
    for pair in said:
        key, _, value = pair.partition("=")
        config[key] = yaml.safe_load(value)
    plan = Plan(config)
    listed = subprocess.run(
        [*SNAKEMAKE, *targets, *(["--config", *said] if said else [])], capture_output=True, text=True, check=False
    )
    if listed.returncode:
        raise InputError("plan", listed.stderr.strip()[-2000:], "`snakemake --dry-run` says the same")
    found, others = jobs(listed.stdout.splitlines())
    KEPT.parent.mkdir(exist_ok=True)
    trials = Trials(plan, "data/normalised", Store(KEPT))
    made = list(estimates(steps(found, "trying each kind of job, small"), plan, trials))
    origins = {job.setup: str(trials.facts(job.setup)["provenance"]) for job in found}
    return report.text(plan, config, made, others, origins)


if __name__ == "__main__":
    try:
        print(main(sys.argv[1:]))
    except InputError as error:
        sys.exit(f"error: {error}")
