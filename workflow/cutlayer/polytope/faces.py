"""Coordinates that are fixed at 0 or at 1 on all of S_F, i.e. the smallest face of the cube that contains it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cutlayer.polytope.inputs import Floats
from cutlayer.polytope.newton import nearest

AT_BOUND = 1e-10
MOVED = 1e-9


def stuck(V: Floats, c: Floats, points: Floats) -> NDArray[np.bool_]:
    """Whether each coordinate (N x d) is 0 on all of S_F or 1 on all of it; `points` (N x d) lie in S_F.

    A point of S_F maximizes the sum of a set of coordinates that it has at 0 (or minimizes those at 1)
    exactly if stepping inward along them and projecting back leaves it unchanged. Coordinates that moved are
    free; the rest is tried again, until nothing moves.
    """
    held = (points < AT_BOUND) | (points > 1.0 - AT_BOUND)
    inward = np.where(points < 0.5, 1.0, -1.0)
    rows = np.flatnonzero(held.any(axis=1))
    while len(rows):
        stepped, _ = nearest(V, c[rows], points[rows] + inward[rows] * held[rows])
        moved = held[rows] & (np.abs(stepped - points[rows]) > MOVED)
        held[rows] &= ~moved
        rows = rows[moved.any(axis=1) & held[rows].any(axis=1)]
    return held
