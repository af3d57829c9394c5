"""Speed and objective of `optimal_noise` against scipy's SLSQP on the four-variable problem.

Run `python workflow/benchmarks/gradient_noise.py [note]`; it prints a table and writes it next to this file, with the
note (say, that others used the machine). SLSQP gets variables scaled by the power and a start that spends it, once as
most would call it and once with the gradient; what it finds counts if it is feasible to 1e-9.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from machine import machine
from scipy.optimize import minimize
from table import markdown, write

from cutlayer.gradient_noise import optimal_noise, power_for

Case = tuple[float, float, int, float, float, float]
CASES, REPEATS, CALLS = 40, 5, 20
EQUAL = 1e-8


def magnitude(rng: np.random.Generator, decades: float) -> float:
    """Log-uniform positive number, at most so many decades from 1."""
    return float(10 ** rng.uniform(-decades, decades))


def cases() -> Iterator[tuple[str, list[Case]]]:
    """(name, cases drawn): (u, v, dim, gap, positive_fraction, power)."""
    rng = np.random.default_rng(0)

    def draw(decades: float, dim: int) -> Case:
        u, v, gap, power = (magnitude(rng, decades) for _ in range(4))
        return u, v, dim, gap, float(rng.uniform(0.05, 0.95)), power

    yield "within 1e1", [draw(1, 128) for _ in range(CASES)]
    yield "within 1e3", [draw(3, 128) for _ in range(CASES)]
    yield "dim 1", [draw(1, 1) for _ in range(CASES)]
    yield "u = v", [(u, u, d, g, p, power) for u, _, d, g, p, power in (draw(1, 128) for _ in range(CASES))]
    yield "u = 0", [(0.0, v, d, g, p, power) for _, v, d, g, p, power in (draw(1, 128) for _ in range(CASES))]
    yield "u and v 1% apart", [(u, 1.01 * u, d, g, p, w) for u, _, d, g, p, w in (draw(1, 128) for _ in range(CASES))]
    yield "power nearly enough for u = v", [nearly(*draw(1, 128)) for _ in range(CASES)]
    yield "within 1e12", [draw(12, 128) for _ in range(CASES)]


def nearly(u: float, v: float, dim: int, gap: float, fraction: float, power: float) -> Case:
    """The case in which the variances can just not be made equal: the solver needs exact arithmetic."""
    enough = (fraction if u > v else 1 - fraction) * dim * abs(u - v)
    return u, v, dim, 1e-6 * gap, fraction, enough * (1 - 1e-5 * power)


def seconds(call: Callable[[], object], calls: int, repeats: int) -> float:
    """The least processor time of a call over a few repeats."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(calls):
            call()
        times.append((time.process_time() - start) / calls)
    return min(times)


def slsqp(case: Case, slopes: bool) -> Callable[[], float]:
    """A function that solves the case with SLSQP, given the gradient or not: the sumKL found, or NaN."""
    u, v, dim, gap, p, power = case
    floors = np.array([u, v, u, v]) / power
    weights = np.array([1 - p, p, (dim - 1) * (1 - p), (dim - 1) * p])
    gap, others = gap / power, dim - 1

    def objective(x: np.ndarray) -> float:
        A, B, a, b = x + floors
        return ((A - B) ** 2 / (A * B) + gap * (1 / A + 1 / B) + others * (a - b) ** 2 / (a * b)) / 2

    def gradient(x: np.ndarray) -> np.ndarray:
        A, B, a, b = x + floors
        along = [1 / B - (B + gap) / A**2, 1 / A - (A + gap) / B**2]
        return np.array([*along, others * (1 / b - b / a**2), others * (1 / a - a / b**2)]) / 2

    budget = {"type": "ineq", "fun": lambda x: 1 - weights @ x, "jac": lambda x: -weights}
    start = np.full(4, 1 / weights.sum())
    settings = {"bounds": [(0, None)] * 4, "constraints": [budget], "options": {"ftol": 1e-15, "maxiter": 1000}}

    def solve() -> float:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = minimize(objective, start, jac=gradient if slopes else None, method="SLSQP", **settings)
        feasible = found.x.min() > -1e-9 and weights @ found.x < 1 + 1e-9
        return float(found.fun) if feasible else math.nan

    return solve


def measure(name: str, drawn: list[Case]) -> list[str]:
    """A row of the table."""
    mine, back, optimum = [], [], []
    for case in drawn:
        optimum.append(optimal_noise(*case).sum_kl)
        mine.append(seconds(lambda case=case: optimal_noise(*case), CALLS, REPEATS))
        back.append(seconds(lambda case=case, best=optimum[-1]: power_for(*case[:5], best), CALLS // 4, 2))
    row = [name, f"{1e6 * np.mean(mine):.1f}", f"{1e6 * np.max(mine):.1f}", f"{1e6 * np.mean(back):.0f}"]
    for slopes in (False, True):
        row += compared(drawn, np.array(mine), np.array(optimum), slopes)
    return row


def compared(drawn: list[Case], mine: np.ndarray, optimum: np.ndarray, slopes: bool) -> list[str]:
    """A row's cells for SLSQP."""
    solvers = [slsqp(case, slopes) for case in drawn]
    excess = np.array([solve() for solve in solvers]) / optimum - 1
    ratios = np.array([seconds(solve, 1, 2) for solve in solvers]) / mine
    equal, better = np.abs(excess) < EQUAL, int(np.sum(excess < -EQUAL))
    least = f"{ratios[equal].min():,.0f}" if equal.any() else "-"
    cells = [f"{np.mean(ratios * mine) * 1e3:.2f}", f"{np.median(ratios):,.0f}", f"{ratios.min():,.0f}", least]
    return [*cells, f"{equal.mean():.0%}", str(better)]


def main(note: str) -> None:
    """Write the table."""
    theirs = ["ms", "median ratio", "least", "least where equal", "equal", "better"]
    columns = ["cases", "optimal_noise µs", "slowest µs", "power_for µs", *theirs, *theirs]
    groups = ["", "", "", "", "SLSQP", *[""] * 5, "SLSQP with gradient", *[""] * 5]
    write(
        __file__,
        "gradient_noise against SLSQP",
        machine("numpy", "scipy") + " One thread, processor time." + (f" {note}" if note else ""),
        f"{CASES} cases a row, drawn uniformly in the logarithm; dim 128 but for one row. Times are the least of "
        f"{REPEATS} (SLSQP: 2) repeats, ratios of time case by case. Equal: the share of cases in which SLSQP comes "
        f"within {EQUAL:.0e}, relative, of our sumKL; in the others it stops above it or fails, often early, so that "
        "its time means little. Better: the number of cases in which it is lower than ours by more than that.",
        markdown(columns, (measure(*case) for case in cases()), "l" + ">" * 15, groups),
    )


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
