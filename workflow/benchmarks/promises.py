"""Why two promises of the arena are below what attacks read: what they take for granted, and what was drawn.

Run `make results SCALE=reference PAPERS=arena`, then `python workflow/benchmarks/promises.py`; it writes its tables
beside this file. Results that lie elsewhere: `python workflow/benchmarks/promises.py path/to/results`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from machine import machine
from table import markdown, write
from trials import ROOT, spelled

from cutlayer.core.artifacts import map_arrays
from cutlayer.theory.accounting import response_auc
from cutlayer.theory.tcpo import auc_bound

ATTRIBUTES = ("adult_sex_poisoned", "adult_relationship_poisoned", "diabetes_sex_poisoned", "celeba_male_poisoned")
LABELS = ("criteo", "avazu", "digits_vs_rest")
COMPOSED, RESPONSE, THRESHOLD, EPSILON = "tcpo_composed", "randomized_response", 0.005, 1.0


def worst(results: Path, exhibit: str, setup: str, defense: str, setting: str) -> tuple[float, str]:
    """The worst leak of all attacks, as an exhibit of the arena has it, and in words with its interval."""
    table = pd.read_csv(results / f"exhibits/arena/{exhibit}.csv")
    own = table[(table["setup"] == setup) & (table["defense"] == defense) & (table["setting"] == setting)]
    (row,) = own[(own["attack"] == "any_attack") & own["metric"].isin(["attack_auc", "leak_auc_mean"])].itertuples()
    return row.mean, f"{row.mean:.3f} ± {(row.high - row.low) / 2:.3f}"


def composed(results: Path) -> Iterator[list[str]]:
    """L_p in the trainings of tcpo_composed, and what it would promise."""
    for setup in ATTRIBUTES:
        runs = results / f"runs/{setup}/{COMPOSED}"
        utility = pd.read_csv(runs / "utility.csv")
        leakage = utility[utility["metric"] == "leakage"]
        late = leakage[leakage["step"] > leakage["step"].max() / 2].groupby("seed")["value"].mean()
        attribute = map_arrays(runs / "seed0.truth.safetensors")[0]["attribute"]
        shares = np.bincount(attribute.astype(int)) / len(attribute)
        yield [
            setup,
            f"{(leakage['value'] > THRESHOLD).mean():.0%}",
            spelled([*late]),
            f"{auc_bound(THRESHOLD, shares):.3f}",
            spelled([auc_bound(value, shares) for value in late]),
            worst(results, "adaptive_attributes", setup, COMPOSED, f"threshold={THRESHOLD}")[1],
        ]


def drawn(results: Path) -> Iterator[list[str]]:
    """How much what is drawn for the watched rows alone moves the mean of all seeds."""
    promise = response_auc(EPSILON, 2)
    for setup in LABELS:
        truths = sorted((results / f"runs/{setup}/{RESPONSE}").glob("seed*.truth.safetensors"))
        positive = [map_arrays(truth)[0]["watched_labels"].astype(bool) for truth in truths]
        parts = [promise * (1 - promise) * (1 / one.sum() + 1 / (~one).sum()) / 4 for one in positive]
        scatter = np.sqrt(np.sum(parts)) / len(parts)
        leak, told = worst(results, "adaptive", setup, RESPONSE, f"epsilon={EPSILON}")
        yield [setup, f"{promise:.3f}", told, f"{scatter:.4f}", f"{(leak - promise) / scatter:+.1f}"]


def main(results: Path) -> None:
    """Write the page."""
    columns = ["setup", "L_p over the threshold", "L_p", "promised at the threshold", "at this L_p", "worst attack"]
    chance = ["setup", "promised", "worst attack", "scatter of what is drawn", "off by so many"]
    write(
        __file__,
        "Promises of the arena and what they take for granted",
        machine("torch", "numpy"),
        f"**{COMPOSED}** at a threshold of {THRESHOLD}, scale reference, five seeds. Of the batches of which L_p was "
        "looked at, the share over the threshold; the mean of L_p in the second half of the training; the AUC that the "
        "threshold promises, the one that this L_p would, and the worst leak of all attacks. The promise takes for "
        "granted that L_p stays at the threshold. It does not: no attack is above what the L_p that was reached would "
        "promise. Intervals are of 95%.",
        markdown(columns, composed(results), "l>>>>>"),
        f"**{RESPONSE}** at epsilon {EPSILON:g}. The best that an attack can do is to read the labels as drawn, which "
        "reaches the promise on average over what is drawn. For the about 1,000 rows that are watched what is drawn "
        "scatters, and with it the mean of five seeds, by the standard deviation of the fourth column. The last one is "
        "the distance of the worst attack from the promise in these.",
        markdown(chance, drawn(results), "l>>>>"),
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "results")
