"""The three cases of the optimum for u <= v: noise on the negatives only, on the positives only, on both."""

from __future__ import annotations

import math

from cutlayer.gradient_noise.across import across, split
from cutlayer.gradient_noise.problem import Optimum, Problem


def solve(problem: Problem) -> Optimum:
    """The optimum by trying the cases in turn; each returns None where its multipliers have wrong signs."""
    u, v, _, gap, p, q, power, surplus = problem
    if gap == 0.0 and surplus >= 0.0:
        return Optimum(v - u, v - u, 0.0, 0.0, 0.0)
    if q * u + p * v + power == 0.0:  # a class with all the examples, at one point
        return Optimum(0.0, 0.0, 0.0, math.inf, math.inf)
    return _positives_only(problem) or _negatives_only(problem) or _both(problem)


def _excess(C: float, gap: float, p: float, q: float) -> tuple[float, float]:
    """The best ratio r of the positives' variance along to the negatives', and r - 1."""
    r = math.sqrt((C + q * gap) / (C + p * gap))
    return r, (q - p) * gap / ((C + p * gap) * (r + 1.0))


def _positives_only(problem: Problem) -> Optimum | None:
    """The optimum with noise on the positives only, A = a = u."""
    u, v, others, gap, p, q, power, _ = problem
    _, excess = _excess(q * u + p * v + power, gap, p, q)
    if not power + p * (v - u) < p * u * excess:
        return None
    y = power / p
    B, difference = v + y, v - u + y
    sum_kl = others * (v - u) / u * (v - u) / v + difference / u * difference / B + gap / u + gap / B
    price = (gap - difference / u * (u + B)) / B / B / p
    return Optimum(0.0, 0.0, y, sum_kl / 2, price)


def _negatives_only(problem: Problem) -> Optimum | None:
    """The optimum with noise on the negatives only, B = v: the power does not suffice for more than equal variances."""
    u, v, others, gap, p, q, power, surplus = problem
    if q == 0.0 or v == 0.0:
        return None
    rho = math.sqrt(v / (v + gap))
    shrunk = gap / (v + gap) / (1.0 + rho)  # 1 - rho
    if others and rho * (power / q) <= u * shrunk:  # a = rho A would be below u
        x, z, short = power / q, 0.0, v - u
        off = x - short  # A - v
    else:
        dims = 1.0 + others * rho
        x = (power / q + others * u * shrunk) / dims
        z = _rest(rho * x, u * shrunk, power / q - x, others)
        off = (surplus / q + others * shrunk * v) / dims
        short = v * shrunk - rho * off  # v - a
    r, excess = _excess(q * (u + x) + p * v, gap, p, q)
    if (r * (u + x) - v if r > 2.0 else r * off + v * excess) >= 0.0:  # r A >= v: see both
        return None
    A, a = u + x, max(u, rho * (u + x))
    if A == 0.0 or (others and a == 0.0):
        return Optimum(x, z, 0.0, math.inf, math.inf)
    sum_kl = off / A * off / v + gap / A + gap / v
    if others:
        sum_kl += others * short / a * short / v
    return Optimum(x, z, 0.0, sum_kl / 2, (gap - off / v * (A + v)) / A / A / q)


def _rest(grown: float, lost: float, unspent: float, others: float) -> float:
    """The noise across, grown - lost = unspent / others, by the difference with less cancellation."""
    if not others:
        return 0.0
    return grown - lost if grown > 2.0 * lost else max(0.0, unspent / others)


def _both(problem: Problem) -> Optimum:
    """The optimum with noise on both classes, A = C / (q + p r) and B = r A."""
    u, v, others, gap, p, q, power, _ = problem
    least = q * u + p * v
    along, a, short, z = power, u, v - u, 0.0
    if others and v > u and across(least + power, problem)[2] > 0.0:
        along, a, short, z = split(problem, least)
    C = least + along
    r, excess = _excess(C, gap, p, q)
    weight = q + p * r
    wanted = u * excess - (v - u)  # r u - v
    x, y = max(0.0, (along - p * wanted) / weight), max(0.0, (r * along + q * wanted) / weight)
    sum_kl = excess / r * excess + gap * weight / C * (1.0 + 1.0 / r)
    if others and short:
        sum_kl += others * short / a * short / v if a else math.inf
    phi = 1.0 + (C + 2.0 * p * q * gap) / (math.sqrt(C + p * gap) * math.sqrt(C + q * gap))
    return Optimum(x, z, y, sum_kl / 2, gap / C / C * phi)
