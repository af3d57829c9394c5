"""What tcpo's photographs give at the published size: without a defense, and with L_p of a batch on few or many axes.

Run `make data`, then `python workflow/benchmarks/readings_photographs.py`, of which `--help` says how to make a part.
A training and the attacks on it are rows that are appended to the csv file beside this one as soon as they are there;
what it has already is not run again, so a measurement may be stopped. At the end, or with `--table` alone, the page is
written. All is as at scale paper: 64 x 64 pixels, 32 channels, batches of 256, 50 epochs, sigma 10.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import csv
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import torch
from machine import machine
from readings_page import METRICS, UTILITY, Measured, number, told
from table import markdown, write
from trials import at_scale, attacked, read

from cutlayer.games.base.protocol import Task
from cutlayer.plan import plugins

ROWS = Path(__file__).with_suffix(".csv")
SETUPS = ("celeba_male", "celeba_attractive", "celeba_lipstick")
WAYS: dict[str, tuple[str, dict[str, Any]]] = {  # what is run -> the defense, its parameters
    "no defense": ("none", {}),
    "tcpo, 16 axes of a batch": ("tcpo", {"threshold": 0.005, "components": 16}),
    "tcpo, 64 axes of a batch": ("tcpo", {"threshold": 0.005, "components": 64}),
}
UNDEFENDED = "no defense"
AXES = "celeba_male"  # the attribute that the defended ways are measured on
PLACES = {"": ("basic", "dsa"), "_poisoned": ("dpa",)}  # how a setup's name ends -> the attacks on its training
COLUMNS = ["way", "setup", "seed", "attack", UTILITY, *dict.fromkeys(METRICS.values()), "majority", "seconds"]


class Job(NamedTuple):
    """A training."""

    seed: int
    way: str
    setup: str
    place: str  # how the name of what is run ends, see PLACES


def jobs(seeds: int, ways: list[str]) -> Iterator[Job]:
    """All trainings: the undefended ones of every attribute first; defended ones meet the basic attack only."""
    for seed, setup, place in product(range(seeds), SETUPS, PLACES):
        if UNDEFENDED in ways:
            yield Job(seed, UNDEFENDED, setup, place)
    for seed, way in product(range(seeds), ways):
        if way != UNDEFENDED:
            yield Job(seed, way, AXES, "")


def attacks(job: Job) -> tuple[str, ...]:
    """The attacks on a training."""
    return PLACES[job.place] if job.way == UNDEFENDED else ("basic",)


def rows(job: Job) -> list[list[Any]]:
    """A row of each attack on a training; the name of the training is that of the run in the workflow."""
    torch.set_num_threads(1)
    start = time.process_time()
    plan, place = at_scale("paper"), job.setup + job.place
    settings, (defense, parameters) = plan.setups[place], WAYS[job.way]
    protocol = plugins.create("protocol", settings["protocol"])
    method = plugins.create("defense", defense, parameters, settings["protocol"])
    outcome = protocol.run(Task(place, defense, job.seed, read(settings["dataset"]), settings, {"": method}))
    found = []
    for attack in attacks(job):
        scores = attacked(plan, protocol, outcome, "", attack, (place, defense, job.seed))
        values = {row["metric"]: row["value"] for row in [*outcome.utility, *scores]}
        seconds = round(time.process_time() - start, 1)
        cells = [values.get(name, "") for name in COLUMNS[4:-1]]
        found.append([job.way, job.setup, job.seed, attack, *cells, seconds])
    return found


def measured() -> pd.DataFrame:
    """The rows that there are, under the names that `Measured` has for them."""
    own = pd.read_csv(ROWS, keep_default_na=False) if ROWS.exists() else pd.DataFrame(columns=COLUMNS)
    return own.rename(columns={"way": "reading"}).assign(setting="")


def run(asked: argparse.Namespace) -> None:
    """What is not there yet, on so many cores."""
    own = measured()
    done = {tuple(map(str, row)) for row in own[["reading", "setup", "seed", "attack"]].to_numpy()}
    left = [
        job
        for job in jobs(asked.seeds, asked.ways)
        if any((job.way, job.setup, str(job.seed), attack) not in done for attack in attacks(job))
    ]
    with ProcessPoolExecutor(asked.cores) as pool:
        for ended in as_completed([pool.submit(rows, job) for job in left]):
            new = not ROWS.exists()
            with ROWS.open("a", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows([COLUMNS] * new + ended.result())
            print(*ended.result(), sep="\n", flush=True)


def undefended(found: Measured) -> Iterator[list[str]]:
    """Ours and the printed, attribute by attribute."""
    for setup in SETUPS:
        who = {"setup": setup, "reading": UNDEFENDED}
        ours = {"utility": found.values(UTILITY, **who)} | {a: found.values(attack=a, **who) for a in METRICS}
        cells = [c for name in ours for c in (told(ours[name]), number(found.printed(setup, "none", name)))]
        yield [setup, told(found.values("majority", **who)), *cells]


def axes(found: Measured) -> Iterator[list[str]]:
    """The basic attack and the utility of each way."""
    for way, (defense, _) in WAYS.items():
        who = {"setup": AXES, "reading": way}
        printed = [number(found.printed(AXES, defense, metric)) for metric in ("utility", "basic")]
        yield [way, told(found.values(UTILITY, **who)), printed[0], told(found.values(**who)), printed[1]]


def page() -> None:
    """Write the page from all rows that there are."""
    found = Measured(measured())
    names = [name for metric in ("utility", *METRICS) for name in (metric, "printed")]
    write(
        __file__,
        "tcpo's photographs at the published size",
        machine("torch", "numpy"),
        "Scale paper: 64 x 64 pixels, 32 channels, batches of 256, 50 epochs, Adam 0.001, sigma 10, literal reading; "
        "the photographs that are at hand, a sample of 30,000 of 202,599. Accuracies in percent, 95% t-intervals over "
        "seeds, in brackets how many. Of dsa and dpa the best epoch counts, as in the paper.",
        "Without a defense; majority is the share of the attribute's most common value.",
        markdown(["setup", "majority", *names], undefended(found), "l" + ">" * (len(names) + 1)),
        f"{AXES}, Th = 0.005: the basic attack, by how many axes of a batch L_p looks at.",
        markdown(["way", "utility", "printed", "basic", "printed"], axes(found), "l>>>>"),
    )


def main() -> None:
    """What is asked for, then the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ways", nargs="+", default=[*WAYS], choices=[*WAYS])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--cores", type=int, default=2, help="trainings side by side")
    parser.add_argument("--table", action="store_true", help="write the page, run nothing")
    asked = parser.parse_args()
    if not asked.table:
        run(asked)
    page()


if __name__ == "__main__":
    main()
