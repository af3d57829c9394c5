"""The jobs of a DAG, as Snakemake's own summary has them: which are done, and which files each makes."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from cutlayer.plan.grains import ONE_SEED

TO_DO = "update pending"
PATHS = {  # kind -> the files that say what a job is about
    "run": r"results/runs/(?P<setup>\w+)/(?P<defense>\w+)/(?:utility(?:\.seed(?P<seed>\d+))?\.csv"
    r"|seed\d+\.\w+\.safetensors)",
    "attack": r"results/scores/(?P<setup>\w+)/(?P<defense>\w+)/(?P<attack>\w+)(?:\.seed(?P<seed>\d+))?\.csv",
    "theory": r"results/theory/(?P<paper>\w+)/(?P<setup>\w+)/(?P<defense>\w+)(?:\.seed(?P<seed>\d+))?\.csv",
    "match": r"results/matches/(?P<setup>\w+)/(?P<defense>\w+)(?:\.seed(?P<seed>\d+))?\.csv",
    "times": r"results/runs/(?P<setup>\w+)/times\.csv",
}
RULES = {kind: re.compile(rf"{kind}(s_\d+|_\w+)?") for kind in PATHS}


@dataclass
class Job:
    """A job that takes time: of one seed, or of all."""

    kind: str
    setup: str
    defense: str = ""
    seed: str = ""
    paper: str = ""
    attacks: list[str] = field(default_factory=list)
    to_do: bool = False

    @property
    def name(self) -> str:
        """As people know it."""
        what = "+".join(self.attacks[:2]) + (" ..." if len(self.attacks) > 2 else "")
        parts = (self.kind, self.paper, self.setup, self.defense, what, f"seed {self.seed}" if self.seed else "")
        return " ".join(filter(None, parts))


def jobs(summary: Iterable[str]) -> tuple[list[Job], int]:
    """The jobs that take time, of the lines of `snakemake --summary`; how many others there are to do."""
    found: dict[tuple[str, ...], Job] = {}
    others = set()
    for row in csv.DictReader(summary, delimiter="\t"):
        kind, place = _place(row["rule"], row["output_file"])
        if place is None:
            others |= {row["output_file"]} if row["plan"] == TO_DO else set()
            continue
        about = {key: value or "" for key, value in place.groupdict().items()}
        if kind == "run" and row["rule"].endswith(ONE_SEED):
            about["seed"] = re.findall(r"seed(\d+)", row["output_file"])[0]
        own = [about.get(key, "") for key in ("setup", "defense", "seed", "paper")]
        setup, defense, seed, paper = own
        job = found.setdefault((row["rule"], *own), Job(kind, setup, defense, seed, paper))
        job.attacks += [about["attack"]] if kind == "attack" else []
        job.to_do |= row["plan"] == TO_DO
    return list(found.values()), len(others)


def _place(rule: str, path: str) -> tuple[str, re.Match[str] | None]:
    """The kind of a rule, and what a file's path says of the job; None if it is of no kind."""
    for kind, pattern in RULES.items():
        if pattern.fullmatch(rule):
            return kind, re.fullmatch(PATHS[kind], path)
    return "", None
