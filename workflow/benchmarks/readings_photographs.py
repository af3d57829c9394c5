"""tcpo's photographs at the published size: without a defense, and with L_p of a batch on few or many axes.

Run `make data`, then `python workflow/benchmarks/readings_photographs.py`, of which `--help` says how to make a part,
and which may be stopped: see `published`. All is as at scale paper: 64 x 64 pixels, 32 channels, batches of 256, 50
epochs, sigma 10.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import published
from machine import machine
from published import Job
from readings_page import METRICS, UTILITY, Measured, number, told
from table import markdown, write

ROWS = Path(__file__).with_suffix(".csv")
SETUPS = ("celeba_male", "celeba_attractive", "celeba_lipstick")
UNDEFENDED = "no defense"
WAYS: dict[str, tuple[str, dict[str, Any]]] = {  # what is run -> the defense, its parameters
    UNDEFENDED: ("none", {}),
    "tcpo, 16 axes of a batch": ("tcpo", {"threshold": 0.005, "components": 16}),
    "tcpo, 64 axes of a batch": ("tcpo", {"threshold": 0.005, "components": 64}),
}
AXES = "celeba_male"  # the attribute that the defended ways are measured on
PLACES = {"": ("basic", "dsa"), "_poisoned": ("dpa",)}  # how a setup's name ends -> the attacks on its training


def jobs(seeds: int, ways: list[str]) -> Iterator[Job]:
    """The undefended trainings of every attribute, then the defended ones, which meet the basic attack only."""
    for seed, setup, place in product(range(seeds), SETUPS, PLACES):
        if UNDEFENDED in ways:
            yield _job(seed, UNDEFENDED, setup, place, PLACES[place])
    for seed, way in product(range(seeds), ways):
        if way != UNDEFENDED:
            yield _job(seed, way, AXES, "", ("basic",))


def _job(seed: int, way: str, setup: str, place: str, attacks: tuple[str, ...]) -> Job:
    defense, _ = WAYS[way]
    return Job(seed, {"": way}, setup, setup + place, defense, {"": WAYS[way]}, [("", attack) for attack in attacks])


def undefended(found: Measured) -> Iterator[list[str]]:
    """Ours and the printed, attribute by attribute."""
    for setup in SETUPS:
        who = {"setup": setup, "reading": UNDEFENDED}
        ours = {"utility": found.values(UTILITY, **who)} | {a: found.values(attack=a, **who) for a in METRICS}
        cells = [c for name in ours for c in (told(ours[name]), number(found.printed(setup, "none", name)))]
        yield [setup, told(found.values("majority", **who)), *cells]


def pairs(found: Measured) -> Iterator[tuple[list[float], float]]:
    """Ours without a defense and the printed."""
    for setup, name in product(SETUPS, ("utility", *METRICS)):
        who = {"setup": setup, "reading": UNDEFENDED}
        ours = found.values(UTILITY, **who) if name == "utility" else found.values(attack=name, **who)
        yield ours, found.printed(setup, "none", name)


def axes(found: Measured) -> Iterator[list[str]]:
    """The basic attack and the utility of each way."""
    for way, (defense, _) in WAYS.items():
        who = {"setup": AXES, "reading": way}
        printed = [number(found.printed(AXES, defense, metric)) for metric in ("utility", "basic")]
        yield [way, told(found.values(UTILITY, **who)), printed[0], told(found.values(**who)), printed[1]]


def twice(rows: pd.DataFrame) -> Iterator[list[str]]:
    """The same trainings and attacks on a CPU and on a GPU."""
    ours = rows.pivot(index=["setup", "attack", "seed"], columns="place", values="attack_accuracy")
    ours = ours.reindex(columns=["cpu", "GPU"]).mul(100).dropna()
    for (setup, attack), own in ours.groupby(level=["setup", "attack"], sort=False):
        yield [setup, attack, *(told([*column]) for column in (own["cpu"], own["GPU"], own["GPU"] - own["cpu"]))]


def page() -> None:
    """Write the page from all rows that there are; what was run twice counts once, as the CPU has it."""
    rows = published.measured(ROWS)
    rows["place"] = rows["machine"].where(rows["machine"] == "cpu", "GPU")
    both = rows[rows["way"] == UNDEFENDED]
    once = rows.sort_values("place", ascending=False, kind="stable").drop_duplicates(published.WHO)  # the CPU's first
    found = Measured(once.rename(columns={"way": "reading"}).assign(setting=""))
    names = [name for metric in ("utility", *METRICS) for name in (metric, "printed")]
    write(
        __file__,
        "tcpo's photographs at the published size",
        machine("torch", "numpy"),
        "Scale paper: 64 x 64 pixels, 32 channels, batches of 256, 50 epochs, Adam 0.001, sigma 10, literal reading; "
        "the photographs that are at hand, a sample of 30,000 of 202,599. Accuracies in percent, 95% t-intervals over "
        "seeds, in brackets how many. Of dsa and dpa the best epoch counts, as in the paper. Blank: not run yet. "
        + published.ran_on(rows),
        "Without a defense; majority is the share of the attribute's most common value. "
        + published.distance(pairs(found), "of this table"),
        markdown(["setup", "majority", *names], undefended(found), "l" + ">" * (len(names) + 1)),
        f"{AXES}, Th = 0.005: the basic attack, by how many axes of a batch L_p looks at.",
        markdown(["way", "utility", "printed", "basic", "printed"], axes(found), "l>>>>"),
        "Without a defense, what was run on a CPU and on a GPU.",
        markdown(["setup", "attack", "CPU", "GPU", "GPU - CPU"], twice(both), "ll>>>"),
    )


if __name__ == "__main__":
    published.main(str(__doc__), ROWS, jobs, WAYS)
    page()
