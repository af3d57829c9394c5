"""What the numbers of papers are made of, as Snakemake lists it: code of the library, setups, defenses and attacks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from cutlayer.core.errors import InputError
from cutlayer.forecast.jobs import Job, jobs
from cutlayer.plan import code, plugins
from cutlayer.plan.plan import Plan

SNAKEMAKE = [sys.executable, "-m", "snakemake"]
INPUTS = re.compile(r"^ +input: (.+)$", re.MULTILINE)
NAMED = ("setups", "defenses", "attacks", "models")  # of params.yaml, and of what a scale says


@dataclass(frozen=True)
class Used:
    """Files of the library, from the root; names of params.yaml by what they are, and protocols."""

    code: frozenset[str]
    names: Mapping[str, frozenset[str]]

    def part(self, config: Mapping[str, Any], today: Mapping[str, Any]) -> dict[str, Any]:
        """Of a params.yaml what these papers use, and what is no longer in today's."""
        scales = {
            name: self._named(said, today["scales"].get(name) or {}) for name, said in config["scales"].items() if said
        }
        return self._named(config, today) | {"scales": scales}

    def _named(self, said: Mapping[str, Any], today: Mapping[str, Any]) -> dict[str, Any]:
        others = frozenset(plugins.names("protocol")) - self.names["protocols"]
        kept = {key: value for key, value in said.items() if key not in others}
        for kind in NAMED:
            own = said.get(kind) or {}
            gone = own.keys() - (today.get(kind) or {}).keys()
            kept[kind] = {name: value for name, value in own.items() if name in self.names[kind] | gone}
        return kept


def used(root: Path, scale: str, papers: Iterable[str]) -> Used:
    """Of all jobs that the papers' exhibits need at a scale.

    Raises:
        InputError: Snakemake cannot list them, or they run another tree's library.

    """
    papers = [*papers]
    asked = [*papers, "--config", f"scale={scale}"]
    # What a summary calls inputs are those of the last run, none where nothing has run.
    inputs = {
        file for line in INPUTS.findall(_said(root, "--dry-run", "--forceall", *asked)) for file in line.split(", ")
    }
    own = [root / file for file in inputs if (root / file).is_relative_to(plugins.ROOT) and file.endswith(".py")]
    if not own:
        raise InputError("release.jobs", f"no file of {plugins.ROOT} is among their inputs", "the library of this tree")
    config = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    plan = Plan(config | {"scale": scale, "papers": papers})
    found, _ = jobs(_said(root, "--summary", *asked).splitlines())
    return Used(frozenset(os.path.relpath(file, root) for file in code.closure(*own)), names(found, plan))


def _said(root: Path, *words: str) -> str:
    """What Snakemake prints.

    Raises:
        InputError: It fails.

    """
    told = subprocess.run([*SNAKEMAKE, *words], cwd=root, capture_output=True, text=True, check=False)
    if told.returncode:
        raise InputError("release.jobs", told.stderr.strip()[-2000:], "`snakemake --dry-run` says the same")
    return told.stdout


def names(found: Iterable[Job], plan: Plan) -> dict[str, frozenset[str]]:
    """What these jobs and the exhibits are about: not all of it has a file, such as a defense that is only timed."""
    shown = [exhibit for _, _, exhibit in plan.exhibits()]
    setups = frozenset(job.setup for job in found) | {name for exhibit in shown for name in exhibit["setups"]}
    tuned = {rule["attack"] for rule in plan.matches.values()}
    return {
        "setups": setups,
        "defenses": frozenset(name for exhibit in shown for name in exhibit["defenses"]),
        "attacks": frozenset(name for exhibit in shown for name in exhibit["attacks"]) | tuned,
        "models": frozenset(plan.setups[name]["model"]["use"] for name in setups),
        "protocols": frozenset(plan.setups[name]["protocol"] for name in setups),
    }
