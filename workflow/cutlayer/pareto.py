"""Search direction for conflicting utility and privacy losses: the program of trajectory-controlled Pareto search.

`direction` returns the weights beta of the two gradients, d = G beta, in the order (utility, privacy). With C = G'G
the program's variable is C beta, the decrease of each loss to first order: along the losses while their Pareto front is
far, towards the preferred ray once it is reached, and never against privacy while its loss exceeds the threshold. With
two weights in a box there are few candidates for the optimum; each is computed in closed form and the best is taken.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", equations (7), (10) to (12).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from cutlayer.core.errors import InputError

Pair = tuple[float, float]

# Two gradients whose squared cosine differs from 1 by less are parallel, up to the rounding of their dot products.
PARALLEL = 1e-14


def direction(
    C: Sequence[Sequence[float]] | np.ndarray,
    losses: Sequence[float] | np.ndarray,
    preference: Sequence[float] | np.ndarray,
    at_front: bool,
    over_threshold: bool,
) -> np.ndarray | None:
    """Weights beta (2,) in [-1, 1] of the gradients that solve equation (12), or None if no step changes the losses.

    C (2 x 2) holds the gradients' dot products, `losses` and `preference` are non-negative; the order is (utility,
    privacy). A preference of 0 is the limit: the ray is that loss's axis. Of several beta with one and the same step
    (C is singular) the one of least norm is returned. Away from the Pareto front, losses that no step reduces in
    proportion are both reduced by the shortest convex combination of the gradients (MGDA), if there is one.
    """
    (uu, up, pp), loss, wish = _checked(C, losses, preference)
    if at_front:
        return _towards(uu, up, pp, anchor(loss, wish), over_threshold)
    return _along(uu, up, pp, loss)


def anchor(losses: Pair, preference: Pair) -> Pair:
    """Anchor direction of equation (7), in which the losses approach the preferred ray; orthogonal to the losses."""
    if 0 in preference:
        x, y = (float(r == 0) for r in preference)
    else:
        x, y = (1 / r for r in preference)
    size, ray = math.hypot(*losses), math.hypot(x, y)
    if size == 0:
        return 0.0, 0.0
    along = (losses[0] * x + losses[1] * y) / (size * ray)
    return along * losses[0] - size * x / ray, along * losses[1] - size * y / ray


def _along(uu: float, up: float, pp: float, losses: Pair) -> np.ndarray | None:
    """The beta with C beta = k l for the greatest k <= 1."""
    if losses == (0.0, 0.0):
        return None
    if not _parallel(uu, up, pp):
        weights = _solve(uu, up, pp, losses)
        return np.array(weights) / max(1.0, *map(abs, weights))
    row = _row(uu, up, pp)
    if row is None:
        return None
    value = _common(row, losses)
    if value is None:
        return _shortest(uu, up, pp)
    # row'beta = k value: in the box it is at most the sum of the row's magnitudes.
    return _least_norm(row, min(value, abs(row[0]) + abs(row[1])))


def _common(row: Pair, losses: Pair) -> float | None:
    """The factor t > 0 with losses = t row; None unless they are parallel and of one sign."""
    size = math.hypot(*row)
    t = (losses[0] * row[0] + losses[1] * row[1]) / size**2
    off = abs(losses[0] * row[1] - losses[1] * row[0])
    return t if t > 0 and off <= math.sqrt(PARALLEL) * size * math.hypot(*losses) else None


def _shortest(uu: float, up: float, pp: float) -> np.ndarray | None:
    """The least-norm convex combination of the gradients; None when it is 0."""
    if up <= PARALLEL * math.sqrt(uu * pp):
        return None
    return np.array((1.0, 0.0) if uu <= pp else (0.0, 1.0))


def _towards(uu: float, up: float, pp: float, aim: Pair, guarded: bool) -> np.ndarray | None:
    """The beta in the box whose C beta is nearest to `aim`, subject to (C beta)_p >= 0 if guarded."""
    if _parallel(uu, up, pp):
        return _towards_on_a_line(uu, up, pp, aim, guarded)
    best, least = (0.0, 0.0), math.hypot(*aim)
    for beta in _candidates(uu, up, pp, aim, guarded):
        step = uu * beta[0] + up * beta[1], up * beta[0] + pp * beta[1]
        if guarded and step[1] < -1e-15 * (abs(up * beta[0]) + abs(pp * beta[1])):
            continue
        distance = math.hypot(step[0] - aim[0], step[1] - aim[1])
        if distance < least:
            best, least = beta, distance
    return None if best == (0.0, 0.0) else np.array(best)


def _candidates(uu: float, up: float, pp: float, aim: Pair, guarded: bool) -> Iterator[Pair]:
    """Candidates of the optimum: inside, on an edge, at a corner, or on the guard's line."""
    inside = _solve(uu, up, pp, aim)
    if max(map(abs, inside)) <= 1:
        yield inside
    along_u = uu * aim[0] + up * aim[1], up * (uu + pp), uu * uu + up * up
    along_p = up * aim[0] + pp * aim[1], up * (uu + pp), up * up + pp * pp
    for end in (-1.0, 1.0):
        yield end, _clamp((along_p[0] - end * along_p[1]) / along_p[2])
        yield _clamp((along_u[0] - end * along_u[1]) / along_u[2]), end
        for other in (-1.0, 1.0):
            yield end, other
    if guarded:
        line = pp / (m := max(abs(up), pp)), -up / m  # up * line[0] + pp * line[1] = 0
        gain = uu * line[0] + up * line[1]
        most = 1 / max(map(abs, line))
        t = max(-most, min(most, aim[0] / gain))
        yield t * line[0], t * line[1]


def _towards_on_a_line(uu: float, up: float, pp: float, aim: Pair, guarded: bool) -> np.ndarray | None:
    """The beta nearest to `aim` for parallel gradients: C beta = t row, with |t| bounded by the box."""
    row = _row(uu, up, pp)
    if row is None:
        return None
    reach = abs(row[0]) + abs(row[1])
    t = (aim[0] * row[0] + aim[1] * row[1]) / (row[0] ** 2 + row[1] ** 2)
    t = max(-reach, min(reach, t))
    if guarded and t * row[1] < 0:
        return None
    return _least_norm(row, t) if t else None


def _row(uu: float, up: float, pp: float) -> Pair | None:
    """The row r with C = r r'; None for C = 0."""
    if uu == pp == 0:
        return None
    return math.sqrt(uu), math.copysign(math.sqrt(pp), up)


def _least_norm(row: Pair, value: float) -> np.ndarray:
    """The beta of least norm in the box with row'beta = value, for a value that the box allows."""
    beta = [value * r / (row[0] ** 2 + row[1] ** 2) for r in row]
    longer = 0 if abs(row[0]) >= abs(row[1]) else 1
    if abs(beta[longer]) > 1:
        beta[longer] = math.copysign(1.0, beta[longer])
        rest = (value - row[longer] * beta[longer]) / row[1 - longer]
        beta[1 - longer] = _clamp(rest)
    return np.array(beta)


def _parallel(uu: float, up: float, pp: float) -> bool:
    return uu * pp - up * up <= PARALLEL * uu * pp


def _solve(uu: float, up: float, pp: float, right: Pair) -> Pair:
    """C^-1 right."""
    determinant = uu * pp - up * up
    return (pp * right[0] - up * right[1]) / determinant, (uu * right[1] - up * right[0]) / determinant


def _clamp(x: float) -> float:
    return max(-1.0, min(1.0, x))


def _checked(C: object, losses: object, preference: object) -> tuple[tuple[float, float, float], Pair, Pair]:
    """The checked inputs as floats; InputError if one is invalid."""
    c = np.asarray(C, dtype=float)
    if c.shape != (2, 2) or not np.isfinite(c).all():
        raise InputError("direction.C", f"is {c.tolist()}", "expected a 2 x 2 matrix of finite dot products")
    (uu, up), (pu, pp) = c.tolist()
    scale = math.sqrt(max(uu, 0.0) * max(pp, 0.0))
    if uu < 0 or pp < 0 or abs(up - pu) > 1e-9 * scale or abs(up) > (1 + 1e-9) * scale:
        raise InputError("direction.C", f"is {c.tolist()}", "dot products are symmetric and positive semidefinite")
    pairs = []
    for name, given in (("losses", losses), ("preference", preference)):
        pair = np.asarray(given, dtype=float)
        if pair.shape != (2,) or not np.isfinite(pair).all() or (pair < 0).any():
            raise InputError(f"direction.{name}", f"is {pair.tolist()}", "expected two numbers that are not negative")
        pairs.append((float(pair[0]), float(pair[1])))
    if pairs[1] == (0.0, 0.0):
        raise InputError("direction.preference", "is (0, 0)", "at least one loss must matter")
    return (uu, (up + pu) / 2, pp), pairs[0], pairs[1]
