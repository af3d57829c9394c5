"""What a job will take, from the trials of its run and its attacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cutlayer.core.errors import InputError
from cutlayer.plan.plan import Plan
from cutlayer.plan.sweeps import settings_of
from cutlayer.stages.times import WARM_UP

from .jobs import Job
from .trials import Trials


@dataclass(frozen=True)
class Estimate:
    """Seconds of a core, bytes of transcripts and of other files; or why the job could not be tried."""

    job: Job
    seconds: float = 0.0
    transcripts: float = 0.0
    others: float = 0.0
    untried: str = ""


def estimates(jobs: Iterable[Job], plan: Plan, trials: Trials) -> Iterator[Estimate]:
    """One a job; what cannot be tried because of bad input, as when a small training diverges, says why."""
    for job in jobs:
        try:
            yield _estimate(job, plan, trials)
        except InputError as error:
            yield Estimate(job, untried=str(error))


def _estimate(job: Job, plan: Plan, trials: Trials) -> Estimate:
    seeds = 1 if job.seed else len(plan.seeds)
    if job.kind == "run":
        seconds = trials.seconds(job.setup, job.defense)  # first: it leaves the files that are measured then
        sizes = trials.bytes(job.setup, job.defense)
        seen = sizes.pop("transcript")
        return Estimate(job, seeds * seconds, seeds * seen, seeds * sum(sizes.values()))
    return Estimate(job, seeds * SECONDS[job.kind](job, plan, trials))


def _attack(job: Job, plan: Plan, trials: Trials) -> float:
    return trials.attacks(job.setup, job.defense, job.attacks)


def _theory(job: Job, plan: Plan, trials: Trials) -> float:
    return trials.theory(job.paper, job.setup, job.defense)


def _match(job: Job, plan: Plan, trials: Trials) -> float:
    """Each strength that is tried is a training and an attack; half of them for targets after the first."""
    rule = plan.matches[job.setup, job.defense]
    one = trials.seconds(job.setup, job.defense) + trials.attacks(job.setup, job.defense, [rule["attack"]])
    settings = len(settings_of(plan.defense(job.setup, job.defense)))
    return one / settings * plan.evaluations * (1 + (len(rule["targets"]) - 1) / 2)


def _times(job: Job, plan: Plan, trials: Trials) -> float:
    """Rounds of one step of each setting of each defense."""
    settings = plan.setups[job.setup]
    rounds = WARM_UP + settings["timed_steps"]
    each = trials.work(job.setup).timed(settings, trials.facts(job.setup))
    return rounds * each * sum(_step(job.setup, defense, trials) for defense in plan.defenses_to_time(job.setup))


def _step(setup: str, defense: str, trials: Trials) -> float:
    """Seconds of a step in all settings of a defense."""
    return trials.small(setup, defense).share * trials.slope(setup, defense, "steps")


SECONDS: Mapping[str, Any] = {"attack": _attack, "theory": _theory, "match": _match, "times": _times}
