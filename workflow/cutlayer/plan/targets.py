"""Checks the names in files that the command line requests; rules accept any name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath

from cutlayer.core.errors import InputError, few, nearest

from . import plugins
from .checks import known
from .plan import Plan

NAMED = {  # folder -> what the folders in it, and the files in these, are called after
    "results/exhibits": ("paper", "exhibit"),
    "results/cells": ("paper", "exhibit"),
    "results/runs": ("setup", "defense"),
    "results/priors": ("setup",),
    "results/scores": ("setup", "defense", "attack"),
    "results/theory": ("paper", "setup", "defense"),
    "results/matches": ("setup", "defense"),
    "results/vulnerable": ("setup", "defense"),
    "data/normalised": ("dataset",),
    "data/normalised/acquired": (),  # after folders of original files
}
OF_ALL = "times.csv"  # a file of a setup's folder that is of no single defense


def check(arguments: Iterable[str], plan: Plan) -> None:
    """Raise InputError with the nearest name for the first requested file whose names the plan does not have."""
    for target in arguments:
        path = PurePath(target)
        home = next((str(folder) for folder in path.parents if str(folder) in NAMED), "")
        kinds, names = NAMED.get(home, ()), path.parts[len(PurePath(home).parts) :]
        kinds = kinds[:1] if names[-1:] == (OF_ALL,) else kinds
        if len(names) >= len(kinds):
            _check(target, {kind: name.partition(".")[0] for kind, name in zip(kinds, names, strict=False)}, plan)


def _check(target: str, names: dict[str, str], plan: Plan) -> None:
    exhibits: dict[str, list[str]] = {paper: [] for paper in plan.papers}
    for paper, exhibit, _ in plan.all_exhibits():
        exhibits.setdefault(paper, []).append(exhibit)
    there = {"paper": exhibits, "setup": plan.setups, "defense": plan.defenses, "attack": plan.attacks}
    there |= {"exhibit": exhibits.get(names.get("paper", ""), []), "dataset": plugins.names("dataset")}
    for kind, name in names.items():
        known(kind, name, there[kind], target)
    for kind in names.keys() & {"defense", "attack"}:
        place = names["setup"]
        if reason := plan.variants.missing(kind, names[kind], [place]) or plan.variants.unfit(kind, names[kind], place):
            raise InputError(target, reason, "expected another setup")
    if names and target.startswith("results/matches") and (names["setup"], names["defense"]) not in plan.matches:
        pairs = ["/".join(pair) for pair in plan.matches]
        raise InputError(target, "no exhibit matches that defense there", nearest("/".join(names.values()), pairs))
    for seed in re.findall(r"\bseed(\d+)\.", target):
        if int(seed) not in plan.seeds:
            raise InputError(target, f"there is no seed {seed}", f"expected {few(plan.seeds)}")
