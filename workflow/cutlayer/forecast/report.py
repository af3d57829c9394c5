"""The plan as text: jobs, hours and bytes by stage, the longest jobs, which setups are full, what needs a GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cutlayer.plan.plan import Plan
from cutlayer.plan.sizes import smaller

from .estimates import Estimate

CORES = 2
LONGEST = 10
LONG = 45 * 60.0  # seconds that no job of a scale for two cores should take
NIGHT = 6 * 3600.0 * CORES
KINDS = {"run": "runs", "attack": "attacks", "theory": "theory", "match": "matches", "times": "times"}


def text(
    plan: Plan, config: Mapping[str, Any], made: Sequence[Estimate], others: int, origins: Mapping[str, str]
) -> str:
    """All of it; `origins` is the provenance of each setup's data."""
    parts = [
        _stages(plan, made, others),
        _longest(plan, made),
        _recorded(made),
        _sizes(plan, config, origins),
        _heavy(made),
    ]
    return "\n\n".join(filter(None, parts))


def _stages(plan: Plan, made: Sequence[Estimate], others: int) -> str:
    rows = [(name, [e for e in made if e.job.kind == kind]) for kind, name in KINDS.items()]
    table = [
        {
            "stage": name,
            "jobs": len(own),
            "to do": len(left := [e for e in own if e.job.to_do]),
            f"hours on {CORES} cores": f"{_sum(left) / 3600 / CORES:.2f}",
            "of all": f"{_sum(own) / 3600 / CORES:.2f}",
            "GB": f"{sum(e.transcripts + e.others for e in own) / 1e9:.1f}",
        }
        for name, own in [*rows, ("all", list(made))]
    ]
    kept = sum(e.transcripts for e in made if not plan.temporary(e.job.setup)) / 1e9
    passing = [e.transcripts / 1e9 for e in made if plan.temporary(e.job.setup)]
    notes = [f"Scale {plan.scale}, {len(plan.seeds)} seeds; hours are of two cores that do nothing else."]
    notes += [f"{others} files of tables, figures, joins and the ledger to do besides: seconds each, not estimated."]
    notes += [f"Transcripts: {kept:.1f} GB stay, {_told(passing)}."]
    untried = [f"{e.job.name}: {e.untried}" for e in made if e.untried]
    notes += [f"Not counted, because its trial failed: {line}" for line in untried]
    return "\n".join([*notes, "", pd.DataFrame(table).to_markdown(index=False, disable_numparse=True)])


def _told(passing: Sequence[float]) -> str:
    """What is deleted once its attacks are done, of which a few jobs' are there at a time."""
    largest = f" (of one job at most {max(passing):.1f} GB)" if passing else ""
    return f"{sum(passing):.1f} GB{largest} are deleted once their attacks are done"


def _longest(plan: Plan, made: Sequence[Estimate]) -> str:
    left = sorted((e for e in made if e.job.to_do), key=lambda e: -e.seconds)[:LONGEST]
    if not left:
        return "Nothing is left to do."
    rows = [{"longest jobs": e.job.name, "minutes on a core": f"{e.seconds / 60:.1f}"} for e in left]
    long = sum(e.seconds > LONG for e in made if e.job.to_do)
    said = f"\n{long} jobs take over {LONG / 60:.0f} minutes on a core." if long else ""
    return pd.DataFrame(rows).to_markdown(index=False, disable_numparse=True) + said


def _recorded(made: Sequence[Estimate]) -> str:
    """What done jobs took, where Snakemake wrote it down, beside their estimates."""
    pairs = [(e, _took(e)) for e in made if not e.job.to_do and not e.untried]
    known = [(e.seconds, took) for e, took in pairs if took]
    if not known:
        return ""
    said, took = (sum(column) for column in zip(*known, strict=True))
    done = f"Of the jobs that are done {len(known)} took {took / 60:.1f} minutes of a core"
    return f"{done}; the estimate is {said / 60:.1f}."


def _took(estimate: Estimate) -> float | None:
    job = estimate.job
    of_seed = f".seed{job.seed}" if job.seed else ""
    places = {
        "run": f"logs/run/{job.setup}/{job.defense}{of_seed}",
        "times": f"logs/times/{job.setup}",
        "match": f"logs/match/{job.setup}/{job.defense}{of_seed}",
        "theory": f"logs/theory/{job.paper}/{job.setup}/{job.defense}{of_seed}",
        "attack": f"logs/attack/{job.setup}/{job.defense}/{job.attacks[0]}{of_seed}" if job.attacks else "",
    }
    file = Path(f"{places[job.kind]}.benchmark.tsv")
    if job.kind == "attack" and not file.exists():
        file = file.with_name(f"shared-attacks{of_seed}.benchmark.tsv")
    return float(pd.read_csv(file, sep="\t")["s"][0]) if file.exists() else None


def _sizes(plan: Plan, config: Mapping[str, Any], origins: Mapping[str, str]) -> str:
    """Which setups have the paper's sizes; a sample has fewer rows than the original."""
    differing = smaller(config, plan.scale)["setup"]
    differing |= {name: "the data are a sample" for name, origin in origins.items() if origin == "sample"}
    full = [name for name in sorted(origins) if name not in differing]
    reduced = [f"{name} ({differing[name]})" for name in sorted(origins) if name in differing]
    return f"Full: {', '.join(full) or 'none'}.\nReduced: {', '.join(reduced) or 'none'}."


def _heavy(made: Sequence[Estimate]) -> str:
    """Setups that two cores do not do in a night."""
    hours: dict[str, float] = {}
    for e in made:
        hours[e.job.setup] = hours.get(e.job.setup, 0.0) + e.seconds
    heavy = {setup: seconds for setup, seconds in sorted(hours.items(), key=_second) if seconds > NIGHT}
    if not heavy:
        return ""
    lines = [f"- {setup}: {seconds / 3600 / CORES:,.0f} hours on {CORES} cores" for setup, seconds in heavy.items()]
    return "\n".join(["Two cores do not do these in a night; they are for a GPU or a cluster:", *lines])


def _second(pair: tuple[str, float]) -> float:
    return -pair[1]


def _sum(made: Sequence[Estimate]) -> float:
    return sum(e.seconds for e in made)
