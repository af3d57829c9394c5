"""Readings of a paper's open choices, measured at its published sizes and compared with the published values.

Run `make data`, then `python workflow/benchmarks/readings.py`, of which `--help` says how to make a part. A training
and the attack on it are a row that is appended to readings_tcpo.csv as soon as it is there; what the file has already
is not run again, so a measurement may be stopped. At the end, or with `--table` alone, readings_tcpo.md is written.

A reading is a choice of the setup or of the defense, by the names that params.yaml has for it. The undefended rows come
first: they decide between readings, for no defense can bring them near the paper. Intervals are over seeds.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import csv
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from machine import machine
from readings_page import Measured, defended, grids, of_tcpo, undefended
from table import write
from trials import at_scale, attacked, read

from cutlayer.games.base.protocol import Task
from cutlayer.plan import plugins
from cutlayer.plan.plan import Plan
from cutlayer.plan.sweeps import settings_of

PAGE = Path(__file__).with_name("readings_tcpo.py")  # whose page and rows are next to it
ROWS = PAGE.with_suffix(".csv")
JOB = ["attack", "setup", "reading", "defense", "setting", "seed"]
MEASURES = ["test_accuracy", "attack_accuracy", "attack_accuracy_max", "attack_auc", "majority"]
NORMALIZED = {"model": {"normalized": True}}
NEITHER = {"excluded": ["sex", "relationship"]}
READINGS: dict[str, dict[str, Any]] = {  # of the setup
    "literal": {},
    "noise seen in training": {"noisy_views": "training"},
    "noise seen": {"noisy_views": "all"},
    "normalized": NORMALIZED,
    "normalized, noise seen": {**NORMALIZED, "noisy_views": "all"},
    "no noise at all": {"sigma": 1e-6},
    "neither private column an input": NEITHER,
    "neither an input, no noise at all": {**NEITHER, "sigma": 1e-6},
}
LITERAL = "literal"
ONLY = {  # reading -> the attack, the defense that it makes a difference to
    "noise seen in training": ("dpa", ""),
    "no noise at all": ("", "none"),
    "neither an input, no noise at all": ("", "none"),
}
Settings = Mapping[str, Mapping[str, Any]]
ONE: dict[str, Settings] = {  # of each defense the first setting of its grid, under every reading of the setup
    "none": {"": {}},
    "adv": {"weight=1.0 with one noisy step": {"weight": 1.0, "steps": 1, "sees": "noised"}},
    "infocensor": {"weight=0.1": {"weight": 0.1}},
    "tcpo": {"threshold=0.005": {"threshold": 0.005}},
}
OF_TCPO: dict[str, dict[str, Any]] = {  # what L_p is taken of, and from where on the front counts as reached
    **{f"a batch, {axes} axes": {"components": axes} for axes in (4, 8)},
    "a batch, all axes": {"components": 64},
    **{f"{rows} rows, all axes": {"components": 64, "rows": rows} for rows in (1024, 4096)},
    "4096 rows, 16 axes": {"rows": 4096},
    "4096 rows, all axes, plain steps": {"components": 64, "rows": 4096, "optimizer": "sgd"},
    "at the front below a cosine of 0": {"front": 0.0},
    "always at the front": {"front": 1.0},
}
GRID = ("adv", "adv2", "infocensor", "linear", "tcpo")
ATTACKS = {"basic": "{setup}", "dpa": "{setup}_poisoned", "dsa": "{setup}"}


def cases(plan: Plan, setup: str) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """(reading, defense, setting, the defense's parameters), of all readings, and of the literal one all grids."""
    for defense, settings in ONE.items():
        for reading in READINGS:
            for setting, parameters in settings.items():
                yield reading, defense, setting, dict(parameters)
    for name, parameters in OF_TCPO.items():
        yield name, "tcpo", "threshold=0.005", {"threshold": 0.005, **parameters}
    for defense in GRID:
        for setting, parameters in settings_of(plan.defense(setup, defense)).items():
            if setting not in ONE.get(defense, {}):
                yield LITERAL, defense, setting, dict(parameters)


def one(plan: Plan, attack: str, setup: str, reading: str, defense: str, parameters: dict[str, Any], seed: int) -> Any:
    """Metrics of a training at scale paper and of an attack on it; its name is that of the run in the workflow."""
    place = ATTACKS[attack].format(setup=setup)
    found = plan.setups[place]
    own = READINGS.get(reading, {})
    settings = found | own | {"model": found["model"] | own.get("model", {})}
    method = plugins.create("defense", defense, parameters, settings["protocol"])
    protocol = plugins.create("protocol", settings["protocol"])
    outcome = protocol.run(Task(place, defense, seed, read(settings["dataset"]), settings, {"": method}))
    scores = attacked(plan, protocol, outcome, "", attack, (place, defense, seed))
    return {row["metric"]: row["value"] for row in [*outcome.utility, *scores]}


def applies(reading: str, attack: str, defense: str) -> bool:
    """True if a reading can make a difference."""
    of_attack, of_defense = ONLY.get(reading, ("", ""))
    return of_attack in ("", attack) and of_defense in ("", defense)


def measured() -> pd.DataFrame:
    """The rows that there are."""
    if not ROWS.exists():
        return pd.DataFrame(columns=[*JOB, *MEASURES, "seconds"])
    return pd.read_csv(ROWS, keep_default_na=False)


def run(asked: argparse.Namespace) -> None:
    """All requested jobs that are not there yet, undefended ones first."""
    plan, done = at_scale("paper"), {tuple(map(str, row)) for row in measured()[JOB].to_numpy()}
    jobs = [
        (attack, setup, reading, defense, setting, seed, parameters)
        for seed in range(asked.seeds)
        for attack in asked.attacks
        for setup in asked.setups
        for reading, defense, setting, parameters in cases(plan, setup)
        if reading in asked.readings and defense in asked.defenses and applies(reading, attack, defense)
        if not asked.settings or setting in asked.settings
    ]
    for *job, parameters in sorted(jobs, key=lambda job: job[3] != "none"):
        if tuple(map(str, job)) not in done:
            attack, setup, reading, defense, _, seed = job
            start = time.process_time()
            found = one(plan, attack, setup, reading, defense, parameters, seed)
            note([*job, *(found.get(name, "") for name in MEASURES), round(time.process_time() - start, 1)])


def note(row: list[Any]) -> None:
    """Append a row, and print it."""
    new = not ROWS.exists()
    with ROWS.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([[*JOB, *MEASURES, "seconds"], row] if new else [row])
    print(*row, flush=True)


def page() -> None:
    """Write the page from all rows that there are."""
    found = Measured(measured())
    first = {defense: next(iter(settings)) for defense, settings in ONE.items()}
    ways = {"literal: a batch, 16 axes; the front below -0.98": LITERAL} | {name: name for name in OF_TCPO}
    plain = [reading for reading in READINGS if reading not in ONLY]
    write(
        str(PAGE),
        "What the text of tcpo leaves open",
        machine("torch", "numpy"),
        "Scale paper: batches of 256, 50 epochs, Adam 0.001, sigma 1, real data. Accuracies in percent, 95% t-"
        "intervals over seeds, in brackets how many. basic attacks the test rows, dpa the training rows; of dpa the "
        "best of all epochs counts, as in the paper. Utility is over seeds and setups.",
        "Without a defense, which decides: distance is how far ours is from the printed, mean over the columns.",
        undefended(found, list(READINGS)),
        *(
            part
            for setup in found.setups
            for part in (
                f"{setup}, the basic attack, one setting of each defense under each reading.",
                defended(found, setup, plain, first),
                f"{setup}, the literal reading, the settings that were run. The rule: of those that cost at most 2 "
                "points of utility the one that the basic attack learns least from, else the most useful.",
                grids(found, setup),
            )
        ),
        "tcpo with Th = 0.005 and one thing at a time read otherwise, the basic attack: what L_p is taken of at each "
        "step, and the cosine of the averaged gradients below which the front counts as reached.",
        of_tcpo(found, ways, first["tcpo"]),
    )


def main() -> None:
    """Run what is requested, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--setups", nargs="+", default=["adult_sex", "adult_relationship"])
    parser.add_argument("--attacks", nargs="+", default=["basic", "dpa"], choices=list(ATTACKS))
    parser.add_argument("--readings", nargs="+", default=[*READINGS, *OF_TCPO], choices=[*READINGS, *OF_TCPO])
    parser.add_argument("--defenses", nargs="+", default=["none", *GRID], choices=["none", *GRID])
    parser.add_argument("--settings", nargs="+", help="of the defenses, e.g. threshold=0.005; otherwise all")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--table", action="store_true", help="write the page, run nothing")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    if not asked.table:
        run(asked)
    page()


if __name__ == "__main__":
    main()
