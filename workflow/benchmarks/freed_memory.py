"""What it costs to give freed memory back to the system, in trainings on one core (see `cutlayer.core.memory`).

`python workflow/benchmarks/freed_memory.py`, after `make data`. Each training is a process of its own, with and without
the settings in turn. The system's seconds are those in which it hands out and clears pages.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from resource import RUSAGE_SELF, getrusage
from typing import Any

THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
REPEATS = 5
CASES: list[tuple[str, str, dict[str, Any]]] = [  # setup, scale, what differs from it
    ("celeba_male", "paper", {"rows": 4000, "epochs": 1}),
    ("celeba_male", "quick", {}),
    ("cifar10", "paper", {"rows": 4000, "epochs": 1}),
    ("adult_sex", "reference", {"epochs": 5}),
]


def trained(setup: str, scale: str, differs: dict[str, Any]) -> list[float]:
    """Seconds of the process and of the system that one training without a defense takes here."""
    import torch
    from trials import at_scale, read

    from cutlayer.games.base.protocol import Task
    from cutlayer.plan import plugins

    torch.set_num_threads(1)
    settings = {**at_scale(scale).setups[setup], **differs}
    protocol = plugins.create("protocol", settings["protocol"])
    defense = plugins.create("defense", "none", {}, settings["protocol"])
    task = Task(setup, "none", 0, read(settings["dataset"]), settings, {"": defense})
    before = getrusage(RUSAGE_SELF)
    protocol.run(task)
    after = getrusage(RUSAGE_SELF)
    return [after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime]


def medians(case: tuple[str, str, dict[str, Any]]) -> list[float]:
    """Both kinds of seconds without the settings, then with them, each a median over processes that take turns."""
    from cutlayer.core.memory import SETTINGS

    ways: list[dict[str, str]] = [{}, {name: str(size) for name, (_, size) in SETTINGS.items()}]
    plain = {name: value for name, value in os.environ.items() if name not in SETTINGS} | THREADS
    found: list[list[list[float]]] = [[], []]
    for _ in range(REPEATS):
        for way, rows in zip(ways, found, strict=True):
            command = [sys.executable, __file__, json.dumps(case)]
            done = subprocess.run(command, env=plain | way, stdout=subprocess.PIPE, check=True)
            rows.append(json.loads(done.stdout))
    return [statistics.median(column) for rows in found for column in zip(*rows, strict=True)]


def row(case: tuple[str, str, dict[str, Any]]) -> list[Any]:
    """A case's row of the table."""
    own, system, kept_own, kept_system = medians(case)
    setup, scale, differs = case
    changed = ", ".join(f"{name} {value:,}" for name, value in differs.items())
    ratio = (own + system) / (kept_own + kept_system)
    seconds = [f"{value:.2f}" for value in (own, system, kept_own, kept_system)]
    return [setup, f"{scale}, {changed}" if changed else scale, *seconds, f"{ratio:.2f}"]


def main() -> None:
    """Write the table."""
    from machine import machine
    from table import markdown, write

    columns = ["setup", "scale", "own s", "system's s", "own s, kept", "system's s, kept", "times as fast"]
    write(
        __file__,
        "Freed memory, given back or kept",
        machine("torch", "numpy"),
        f"One training without a defense, seed 0, on one core; medians of {REPEATS} processes each, in turn.",
        markdown(columns, map(row, CASES), "ll>>>>>"),
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(trained(*json.loads(sys.argv[1]))))
    else:
        main()
