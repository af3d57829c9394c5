"""Speed and objective of `direction` against cvxpy on the two-variable quadratic program (12).

Run `python workflow/benchmarks/pareto.py [note]`; it prints a table and writes it next to this file, with the note
(say, that others used the machine). cvxpy solves one compiled problem for each case with parameters for its numbers,
which is the fastest it offers, once as it comes and once by building the problem anew, as most would call it.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import sys
import time
from collections.abc import Callable, Iterator

import cvxpy as cp
import numpy as np
from machine import machine
from table import markdown, write

from cutlayer.pareto import anchor, direction

Case = tuple[np.ndarray, tuple[float, float], bool, bool]  # C, losses, at the front, over the threshold
CASES, REPEATS, CALLS = 40, 5, 50
EQUAL = 1e-8
UTILITY = 1.0, 0.0
PRECISE = {"solver": "CLARABEL", "tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}


def cases() -> Iterator[tuple[str, list[Case]]]:
    """(name, cases drawn)."""
    rng = np.random.default_rng(0)

    def draw(at_front: bool, over: bool, decades: float, opposed: bool) -> Case:
        G = rng.normal(size=(20, 2)) * 10 ** rng.uniform(-decades, 0, size=2)
        if opposed:
            G[:, 1] = -rng.uniform(0.5, 2) * G[:, 0] + rng.normal(size=20) * 10 ** rng.uniform(-2, -1)
        u, p = rng.exponential(size=2)
        return G.T @ G, (float(u), float(p)), at_front, over

    for name, front, over in (("far", False, False), ("at the front", True, False), ("at the front, over", True, True)):
        for drawn, decades, opposed in (("alike", 0, False), ("within 1e2", 2, False), ("nearly opposed", 0, True)):
            yield f"{name}, {drawn}", [draw(front, over, decades, opposed) for _ in range(CASES)]


def seconds(call: Callable[[], object], calls: int, repeats: int) -> float:
    """The least processor time of a call over a few repeats."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(calls):
            call()
        times.append((time.process_time() - start) / calls)
    return min(times)


class Program:
    """Equation (12) for cvxpy: C and the aim are parameters."""

    def __init__(self, at_front: bool, over: bool) -> None:
        self.C, self.aim, self.beta = cp.Parameter((2, 2)), cp.Parameter(2), cp.Variable(2)
        limits = [self.beta >= -1, self.beta <= 1]
        if at_front:
            limits += [self.C[1] @ self.beta >= 0] if over else []
        else:  # C beta along the losses, and not against them
            along = cp.Variable(nonneg=True)
            limits.append(self.C @ self.beta == along * self.aim)
        self.problem = cp.Problem(cp.Minimize(cp.sum_squares(self.C @ self.beta - self.aim)), limits)

    def solve(self, case: Case) -> np.ndarray:
        """Beta."""
        C, losses, at_front, _over = case
        self.C.value, self.aim.value = C, np.array(target(losses, at_front))
        self.problem.solve(**PRECISE)
        return np.asarray(self.beta.value)


def target(losses: tuple[float, float], at_front: bool) -> tuple[float, float]:
    """Target of C beta."""
    return anchor(losses, UTILITY) if at_front else losses


def objective(case: Case, beta: np.ndarray | None) -> float:
    """The distance of C beta from its target, squared, relative to the target's."""
    C, losses, at_front, _over = case
    aim = np.array(target(losses, at_front))
    step = C @ beta if beta is not None else np.zeros(2)
    return float(np.sum((step - aim) ** 2) / np.sum(aim**2))


def measure(name: str, drawn: list[Case]) -> list[str]:
    """A row of the table."""
    _, _, at_front, over = drawn[0]
    program = Program(at_front, over)
    mine, compiled, built, gaps = [], [], [], []
    for case in drawn:
        C, losses, *flags = case
        program.solve(case)  # the first call compiles
        mine.append(seconds(lambda C=C, losses=losses, f=flags: direction(C, losses, UTILITY, *f), CALLS, REPEATS))
        compiled.append(seconds(lambda case=case: program.solve(case), 1, 3))
        built.append(seconds(lambda case=case: Program(at_front, over).solve(case), 1, 2))
        gaps.append(objective(case, direction(C, losses, UTILITY, *flags)) - objective(case, program.solve(case)))
    ours, times = np.array(mine), np.array([compiled, built])
    ratios = times / ours
    cells = [name, f"{1e6 * ours.mean():.1f}", f"{1e6 * ours.max():.1f}"]
    for some, ratio in zip(times, ratios, strict=True):
        cells += [f"{1e3 * some.mean():.2f}", f"{np.median(ratio):,.0f}", f"{ratio.min():,.0f}"]
    return [*cells, f"{np.mean(np.abs(gaps) <= EQUAL):.0%}", f"{max(gaps):.1e}", f"{min(gaps):.1e}"]


def main(note: str) -> None:
    """Write the table."""
    theirs = ["ms", "median ratio", "least"]
    columns = ["cases", "direction µs", "slowest µs", *theirs, *theirs, "equal", "most", "least"]
    groups = ["", "", "", "compiled", "", "", "built at each call", "", "", "objective", "", ""]
    write(
        __file__,
        "pareto.direction against cvxpy",
        machine("numpy", "cvxpy", "clarabel") + " One thread, processor time." + (f" {note}" if note else ""),
        f"{CASES} cases a row: two gradients in 20 dimensions, losses drawn from an exponential distribution. Times "
        f"are the least of {REPEATS} (cvxpy: 3 and 2) repeats, ratios of time case by case. cvxpy gets a problem "
        "that is compiled once, or builds it at each call; Clarabel has tolerances of 1e-12. Equal: the share of "
        f"cases in which the objectives, relative to what beta = 0 has, differ by at most {EQUAL:.0e}; most and least: "
        "ours less cvxpy's.",
        markdown(columns, (measure(*case) for case in cases()), "l" + ">" * 11, groups),
    )


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
