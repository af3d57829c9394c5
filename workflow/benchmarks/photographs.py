"""How many photographs it takes: what an undefended model of tcpo learns, and leaks, against how many rows there are.

Run `make data`, then `python workflow/benchmarks/photographs.py`; it writes its table beside this file. Scale reference
has the time for 5,000 photographs of celeba, and 30,000 are at hand of the 200,000 that the paper speaks of. All else
is as at scale reference: the model, the pixels, the epochs, and the shares of rows that train, are known to the
attacker, and are attacked.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

from collections.abc import Iterator

import pandas as pd
import torch
from machine import machine
from table import markdown, write
from trials import ROOT, at_scale, attacked, read, reference, spelled

from cutlayer.games.base.protocol import Task
from cutlayer.plan import plugins

SETUP, TARGET = "celeba_male", "male"
SIZES = (2500, 5000, 10000, 20000, 30000)
SEEDS = 3
ATTACKS = {"basic": "attack_accuracy", "dsa": "attack_accuracy_max"}
WHOLE = 10000  # rows, at most, for which DSA has the epochs and channels of scale paper, too
PRINTED = ROOT / "workflow/papers/tcpo/published.csv"


def measured(rows: int, seed: int) -> list[float]:
    """Test accuracy, and what each attack reaches."""
    plan, whole = reference(), at_scale("paper")
    settings, table = plan.setups[SETUP] | {"rows": rows}, read("celeba")
    protocol = plugins.create("protocol", settings["protocol"])
    defense = plugins.create("defense", "none", {}, settings["protocol"])
    outcome = protocol.run(Task(SETUP, "none", seed, table, settings, {"": defense}))
    found = [next(row["value"] for row in outcome.utility if row["metric"] == "test_accuracy")]
    tried = [*((plan, attack) for attack in ATTACKS), *([(whole, "dsa")] if rows <= WHOLE else [])]
    for sizes, attack in tried:
        scores = attacked(sizes, protocol, outcome, "", attack, (SETUP, "none", seed))
        found.append(next(row["value"] for row in scores if row["metric"] == ATTACKS[attack]))
    return found


def lines() -> Iterator[list[str]]:
    """The table."""
    for rows in SIZES:
        seeds = [measured(rows, seed) for seed in range(SEEDS)]
        told = [spelled([100 * one for one in column], ".1f", ".1f") for column in zip(*seeds, strict=True)]
        yield [f"{rows:,}", *told, *([] if rows <= WHOLE else [""])]
    printed = pd.read_csv(PRINTED)
    own = printed[(printed["item"] == "table4") & (printed["target"] == TARGET) & (printed["method"] == "none")]
    values = own.set_index("metric")["value"]
    yield ["printed", *(f"{values[f'{name}_accuracy']:.1f}" for name in ("utility", *ATTACKS, "dsa"))]


def main() -> None:
    """Write the table."""
    write(
        __file__,
        "How many photographs it takes",
        machine("torch", "numpy"),
        f"{SETUP} without a defense as at scale reference, but for the number of rows; {SEEDS} seeds, with 95% "
        "intervals, in percent. The last column is DSA with the epochs and channels of scale paper. The last line is "
        "the paper's table 4.",
        markdown(["rows", "test accuracy", *ATTACKS, "dsa, whole"], lines(), ">>>>>"),
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
