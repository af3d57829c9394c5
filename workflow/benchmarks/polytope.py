"""Speed and agreement of `project` and `relaxed_center` against a cvxpy loop, on 1,000 predictions.

Run `python workflow/benchmarks/polytope.py`; it prints a table and writes it next to this file. The loop's
problem is built once, with the right-hand side as a parameter, and timed on a few rows with each solver's
default accuracy; the fastest solver counts. The agreement is with Clarabel at a tolerance of 1e-13.
"""

from __future__ import annotations

import os

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from machine import machine
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from table import markdown, write

from cutlayer import polytope
from cutlayer.polytope import with_cvxpy
from cutlayer.polytope.inputs import Equations, Floats, orthonormal

Ratios = dict[str, dict[tuple[str, int, int], float]]

PACKAGES = ["numpy", "scipy", "cvxpy", "clarabel", "osqp", "scs"]
PREDICTIONS = 1000
SOLVERS = {"project": ["OSQP", "CLARABEL"], "relaxed_center": ["CLARABEL", "SCS"]}
LOOPED = {"project": 20, "relaxed_center": 5}
COMPARED = 5
DRAWN = [(m, d) for m in (1, 2, 3, 4, 5) for d in (6, 8, 10, 12, 18, 24, 36)]
OURS = {"project": partial(polytope.project, target=0.5), "relaxed_center": polytope.relaxed_center}
REAL = {"breast_cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
WINDOWS = {"breast_cancer": (3, 6, 12, 24), "wine": (4, 6, 12), "digits": (12, 24, 36)}


def cases() -> Iterator[tuple[str, Floats, Floats]]:
    """(name, A, b): drawn from a normal and a uniform distribution, then trained models on real features."""
    for m, d in DRAWN:
        rng = np.random.default_rng([m, d])
        A = rng.standard_normal((m, d))
        yield "normal", A, rng.random((PREDICTIONS, d)) @ A.T
    for name, widths in WINDOWS.items():
        A, x = trained(name)
        for d in widths:
            columns = (7 + np.arange(d)) % A.shape[1]
            yield name, A[:, columns], x[:, columns] @ A[:, columns].T


def trained(name: str) -> tuple[Floats, Floats]:
    """Differences of a logistic regression's rows (m x d), and 1,000 rows of min-max scaled features."""
    data = REAL[name]()
    span = np.ptp(data.data, axis=0)
    x = (data.data - data.data.min(axis=0)) / np.where(span > 0, span, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weights = LogisticRegression(C=1e4, max_iter=2000).fit(x, data.target).coef_
    A = weights if len(weights) == 1 else np.diff(weights, axis=0)
    return A, x[np.random.default_rng(0).integers(len(x), size=PREDICTIONS)]


def seconds(call: Callable[[], object], repeats: int) -> float:
    """The least processor time of a few calls, after one that is not counted."""
    call()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def loop_seconds(name: str, equations: Equations) -> tuple[float, str]:
    """Seconds of the cvxpy loop for all predictions, and the fastest solver."""
    best = np.inf, "none"
    for solver in SOLVERS[name]:
        solve = one_by_one(name, equations)
        solve(0, {"solver": solver})
        start = time.process_time()
        for row in range(LOOPED[name]):
            solve(row, {"solver": solver})
        taken = (time.process_time() - start) * PREDICTIONS / LOOPED[name]
        best = min(best, (taken, solver))
    return best


def one_by_one(name: str, equations: Equations) -> Callable[[int, with_cvxpy.Options], Floats]:
    """A function from a row's number and options to cvxpy's solution."""
    V, c = equations.rows, equations.values
    if name == "project":
        solve = with_cvxpy.projector(V)
        return lambda row, options: solve(c[row], np.full(len(V), 0.5), options)
    center = with_cvxpy.centerer(V)
    return lambda row, options: center(c[row], options)


def measure(name: str, A: Floats, b: Floats) -> tuple[list[str], float]:
    """The table's cells for one function and its ratio."""
    ours = OURS[name]
    mine = seconds(lambda: ours(A, b), 3)
    theirs, solver = loop_seconds(name, orthonormal(A, b))
    error = float(np.abs(ours(A, b[:COMPARED], solver="cvxpy") - ours(A, b)[:COMPARED]).max())
    ratio = theirs / mine
    return [f"{1e3 * mine:.1f}", f"{theirs:.2f} ({solver})", f"{ratio:,.0f}", f"{error:.0e}"], ratio


def rows(ratios: Ratios) -> Iterator[list[Any]]:
    """The table's rows; the ratios are kept."""
    for data, A, b in cases():
        row: list[Any] = [data, *A.shape]
        for name in SOLVERS:
            cells, ratios[name][data, A.shape[0], A.shape[1]] = measure(name, A, b)
            row += cells
        yield row


def main() -> None:
    """Measure every case and write the table."""
    ratios: Ratios = {name: {} for name in SOLVERS}
    columns = ["data", "m", "d", *(cell for name in SOLVERS for cell in (f"{name} ms", "loop s", "ratio", "error"))]
    table = markdown(columns, rows(ratios), "l" * len(columns))
    near = least(ratios["project"], 1, 99)
    wide, narrow = least(ratios["relaxed_center"], 12, 99), least(ratios["relaxed_center"], 1, 11)
    write(
        __file__,
        "polytope against a cvxpy loop",
        machine(*PACKAGES) + " One thread, processor time.",
        f"{PREDICTIONS:,} predictions that share A. The loop is timed on {LOOPED['project']} (project) and "
        f"{LOOPED['relaxed_center']} (relaxed_center) rows at the solvers' default accuracy and scaled; "
        f"the fastest of its solvers is named. Error: the greatest difference to Clarabel at "
        f"{with_cvxpy.TIGHT:.0e}, on {COMPARED} rows.",
        f"Least ratios on the drawn cases: project {near:,.0f}; relaxed_center {wide:,.0f} for d >= 12 "
        f"and {narrow:,.0f} below.",
        table,
    )


def least(ratios: dict[tuple[str, int, int], float], low: int, high: int) -> float:
    """The least ratio of the drawn cases with low <= d <= high."""
    return min(ratio for (data, _, d), ratio in ratios.items() if data == "normal" and low <= d <= high)


if __name__ == "__main__":
    main()
