"""Trade-offs between utility and leak: by how much more of the plane one defense dominates than another.

A setting dominates all that leaks more and is less useful. The area that a defense's settings dominate together is
bounded by the reference point, which is fixed by what is known without the two defenses: the leak of the undefended run
and the utility of a guess without any information. A setting that leaks more than no defense, or is of no use, counts
for nothing, and two curves need not leak alike to be compared.

Zitzler, Thiele, "Multiobjective evolutionary algorithms: a comparative case study and the strength Pareto approach",
IEEE Transactions on Evolutionary Computation 3, 1999 (the size of the space covered).
"""

from __future__ import annotations

import numpy as np


def hypervolume(leak: np.ndarray, utility: np.ndarray, worst_leak: float, worst_utility: float) -> float:
    """The area that points (n,) dominate before the reference point, less leak and more utility being better."""
    order = np.argsort(leak, kind="stable")
    area, best = 0.0, worst_utility
    for place in order:
        if leak[place] >= worst_leak:
            break
        if utility[place] > best:
            area += (worst_leak - leak[place]) * (utility[place] - best)
            best = utility[place]
    return area
