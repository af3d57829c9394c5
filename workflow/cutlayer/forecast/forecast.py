"""The forecast of a plan: its jobs as Snakemake lists them, each with what it will take."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from cutlayer.core import yamls
from cutlayer.core.errors import InputError
from cutlayer.core.memory import keep_freed
from cutlayer.core.progress import steps
from cutlayer.plan.plan import Plan

from . import report
from .estimates import Estimate, estimates
from .jobs import jobs
from .store import Store
from .trials import Trials

KEPT = Path("logs/trials.json")
SNAKEMAKE = [sys.executable, "-m", "snakemake", "--summary"]


@dataclass(frozen=True)
class Forecast:
    """What would run, and what is known of it."""

    plan: Plan
    config: Mapping[str, Any]
    made: Sequence[Estimate]
    others: int  # files of jobs that take seconds
    origins: Mapping[str, str]  # setup -> the provenance of its data

    @property
    def text(self) -> str:
        """The report."""
        return report.text(self.plan, self.config, self.made, self.others, self.origins)


def forecast(arguments: Sequence[str]) -> Forecast:
    """All jobs of the targets, each with what it takes, of the plan that the keys give."""
    torch.set_num_threads(1)  # as in a job
    keep_freed()
    said = [argument for argument in arguments if "=" in argument]
    targets = [argument for argument in arguments if "=" not in argument] or ["all"]
    config = yamls.read("params.yaml")
    for pair in said:
        key, _, value = pair.partition("=")
        config[key] = yamls.load(value, f"plan {key}")
    plan = Plan(config)
    listed = subprocess.run(
        [*SNAKEMAKE, *targets, *(["--config", *said] if said else [])],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if listed.returncode:
        raise InputError("plan", listed.stderr.strip()[-2000:], "`snakemake --dry-run` says the same")
    found, others = jobs(listed.stdout.splitlines())
    KEPT.parent.mkdir(exist_ok=True)
    trials = Trials(plan, "data/normalised", Store(KEPT))
    made = list(estimates(steps(found, "trying each kind of job, small"), plan, trials))
    origins = {job.setup: str(trials.facts(job.setup)["provenance"]) for job in found}
    return Forecast(plan, config, made, others, origins)
