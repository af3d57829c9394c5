"""The error of every attack on fixed equations, compared with what it was when attacks.csv was written.

A number that moved is a change of behavior. If it is meant, write the file again and say why in the commit:

    python tests/golden/test_golden.py

An attack that attacks.csv does not have yet is not compared; the same command adds it.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from cutlayer.core.artifacts import write_rows
from cutlayer.core.seeds import generator
from cutlayer.core.transcript import View
from cutlayer.games.vertical.equations import softmax
from cutlayer.metrics.reconstruction import mse
from cutlayer.plan import plugins

GOLDEN = Path(__file__).with_name("attacks.csv")
SIZES = [(1, 1), (1, 4), (1, 9), (3, 4), (3, 9)]  # equations m, features d
PREDICTIONS = 20
APART = 1e-5  # two attacks are further from each other
OWN = {"gia": {"steps": 100}}  # while it still moves; at its end rounding shows, which differs between processors


def instance(m: int, d: int):
    """What an adversary sees who has m equations for each of d features, and the features."""
    rng = generator("golden", m, d)
    weights, active = rng.normal(size=(m + 1, d + 2)), rng.random((PREDICTIONS, 2))
    X = rng.beta(0.3, 0.3, (PREDICTIONS, d))  # near the corners, where the attacks differ
    bias = rng.normal(size=m + 1)
    seen = {
        "active_features": active,
        "active_weights": weights[:, d:],
        "passive_weights": weights[:, :d],
        "passive": np.arange(d),
        "bias": bias,
    }
    return seen | {"scores": softmax(np.hstack([X, active]) @ weights.T + bias)}, X


def error(name: str, m: int, d: int) -> float | None:
    """Mean squared error of an attack; None where it does not apply."""
    method = plugins.create("attack", name, OWN.get(name))
    seen, X = instance(m, d)
    view = View(name, method.sees, seen, generator("golden", name, m, d))
    if not method.sees <= seen.keys() or ("passive" in method.needs and d > 1) or method.skip(view):
        return None
    return mse(method.infer(view), X)


def write() -> None:
    """Write attacks.csv from every attack on disk."""
    found = [(name, m, d, error(name, m, d)) for name in plugins.names("attack") for m, d in SIZES]
    write_rows(
        GOLDEN,
        [{"attack": name, "m": m, "d": d, "mse": f"{value:.9f}"} for name, m, d, value in found if value is not None],
    )


def stored() -> list[tuple[str, int, int, float]]:
    with GOLDEN.open(newline="") as file:
        return [(row["attack"], int(row["m"]), int(row["d"]), float(row["mse"])) for row in csv.DictReader(file)]


@pytest.mark.parametrize(("name", "m", "d", "expected"), stored() if GOLDEN.exists() else [])
def test_an_attack_errs_as_it_did(name, m, d, expected):
    assert error(name, m, d) == pytest.approx(expected, rel=0, abs=1e-6)


@pytest.mark.parametrize(("m", "d"), [(m, d) for m, d in SIZES if d > m])
def test_the_golden_errors_tell_attacks_apart(m, d):
    """With one equation the two relaxed centers are often one point."""
    errors = {name: value for name, *size, value in stored() if size == [m, d] and (m > 1 or name != "rcc1")}
    assert len(errors) >= 9
    assert min(np.diff(sorted(errors.values()))) > APART


if __name__ == "__main__":
    write()
