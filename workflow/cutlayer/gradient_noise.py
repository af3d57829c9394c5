"""The noise of the marvell defense: the exact optimum of its four-variable problem, in plain floats.

Two classes of gradients, N(mean0, u I) and N(mean1, v I) in `dim` dimensions, `gap` = |mean1 - mean0|^2, get
Gaussian noise with variances along and across the difference of the means, so that the symmetric divergence

    sumKL = [(A - B)^2 / (A B) + gap (1/A + 1/B) + (dim - 1) (a - b)^2 / (a b)] / 2

is least under q (A - u) + p (B - v) + (dim - 1) (q (a - u) + p (b - v)) <= power, q = 1 - p. Here A >= u, B >= v
are the variances along, a >= u, b >= v those across, of the perturbed negatives and positives.

In logarithms this is a convex problem (a geometric program), so that a point with multipliers is the optimum. Let
u <= v; else the classes change places. Then b = v, and one of three holds, the last from some power on and before it
one of the others:

- the negatives get no noise: A = a = u, B = v + power / p;
- the positives get none: B = v and a = max(u, rho A) with rho^2 = v / (v + gap), so that the budget is linear in A;
- both get noise along: with C = q A + p B the best ratio B / A is r, r^2 = (C + q gap) / (C + p gap), and the
  price of power is m = gap phi / C^2, phi = 1 + (C + 2 p q gap) / sqrt((C + p gap) (C + q gap)); across,
  a = v / sqrt(1 + q v m). The budget is one monotone equation in C.

The differences B - A and v - a are computed from formulas without cancellation, so that a sumKL of 1e-20 has as many
correct digits as one of 1.

Li et al., "Label Leakage and Protection in Two-party Split Learning", theorem 1.
"""

from __future__ import annotations

import math
import sys
from numbers import Integral
from typing import NamedTuple

from .errors import InputError

# A surplus of power below this part of the power is computed again, exactly.
CANCELED = 1e-3

# Relative width of a Newton step that is the last: the steps converge quadratically.
SETTLED = 1e-7

# The least positive input by the greatest: beyond, intermediate results leave the range of floats.
SPAN = 1e-150

# `power_for` may fall short of the target by this relative difference.
SLACK = 1e-12

# Factor on an upper bound of the power: a bound that is the root itself would stop Newton's last step.
ROOM = 1.0 + 1e-6


class GradientNoise(NamedTuple):
    """Variances of the noise, of negatives and positives, along and across the difference of the means; their sumKL.

    `sum_kl` is the optimum itself; evaluated at the rounded variances it can be larger where it is far below 1.
    """

    negative_along: float
    negative_across: float
    positive_along: float
    positive_across: float
    sum_kl: float


class _Optimum(NamedTuple):
    """The answer for u <= v: noise x of the negatives along, z across, y of the positives along; none across."""

    x: float
    z: float
    y: float
    sum_kl: float
    price: float  # of power: twice the decrease of sumKL by a unit of it


class _Problem(NamedTuple):
    """The numbers of the problem, u <= v, scaled so that the largest is near 1."""

    u: float
    v: float
    others: float  # dimensions across: dim - 1
    gap: float
    p: float
    q: float
    power: float
    surplus: float  # what is left of the power after making the variances equal; negative if it does not suffice


def optimal_noise(u: float, v: float, dim: int, gap: float, positive_fraction: float, power: float) -> GradientNoise:
    """Return the noise of least sumKL under p tr Sigma1 + (1 - p) tr Sigma0 <= power.

    `u` and `v` are the variances of negatives and positives, `gap` is the squared distance of their means. sumKL is
    right to 1e-8, relative, for magnitudes up to 1e24 apart (1e-12 is seen). It is inf with power 0 only (or beyond
    the largest float): when a class that has examples has variance 0 and the other has another variance or mean. All
    of the power is spent, except where less makes sumKL 0.

    A class without examples (positive_fraction 0 or 1) may get noise at no cost. Numbers that are negative, not finite
    or 1e150 times another, a fraction outside [0, 1] and a dim that is not a positive integer are an InputError.
    """
    _check("optimal_noise", dim, positive_fraction, u=u, v=v, gap=gap, power=power)
    u, v, dim, gap, p, power = float(u), float(v), int(dim), float(gap), float(positive_fraction), float(power)
    if u > v:
        flipped = _scaled(v, u, dim, gap, 1.0 - p, p, power)
        return GradientNoise(flipped.y, 0.0, flipped.x, flipped.z, flipped.sum_kl)
    found = _scaled(u, v, dim, gap, p, 1.0 - p, power)
    return GradientNoise(found.x, found.z, found.y, 0.0, found.sum_kl)


def power_for(u: float, v: float, dim: int, gap: float, positive_fraction: float, sum_kl: float) -> float:
    """Return the smallest power whose optimal sumKL is at most `sum_kl`: 0 if that holds without noise.

    `optimal_noise` at the power returned never gives more than `sum_kl`; it gives at most 1e-12, relative, less, or
    the next smaller float gives more than `sum_kl`. inf is what no power reaches: `sum_kl` = 0 with `gap` > 0, or a
    power beyond the largest float. A power 1e150 times another number is returned, but refused by `optimal_noise`.
    """
    _check("power_for", dim, positive_fraction, u=u, v=v, gap=gap)
    u, v, dim, gap, p = float(u), float(v), int(dim), float(gap), float(positive_fraction)
    if not sum_kl >= 0:
        raise InputError("gradient_noise.power_for", f"sum_kl = {sum_kl!r}", "a number that is at least 0")
    if u > v:
        return _power(v, u, dim, gap, 1.0 - p, p, float(sum_kl))
    return _power(u, v, dim, gap, p, 1.0 - p, float(sum_kl))


def _check(where: str, dim: int, fraction: float, **numbers: float) -> None:
    """Raise on bad input."""
    if not (type(dim) is int or isinstance(dim, Integral)) or dim < 1:
        raise InputError(f"gradient_noise.{where}", f"dim = {dim!r}", "an integer that is at least 1")
    if not 0 <= fraction <= 1:
        raise InputError(f"gradient_noise.{where}", f"positive_fraction = {fraction!r}", "a number from 0 to 1")
    least = SPAN * max(numbers.values())
    for value in numbers.values():
        if not (least <= value < math.inf or value == 0):
            _refuse(where, numbers)


def _refuse(where: str, numbers: dict[str, float]) -> None:
    for name, value in numbers.items():
        if not 0 <= value < math.inf:
            raise InputError(f"gradient_noise.{where}", f"{name} = {value!r}", "a finite number that is at least 0")
    positive = [value for value in numbers.values() if value > 0]
    wrong = f"{min(positive)!r} and {max(positive)!r} are too far apart"
    raise InputError(f"gradient_noise.{where}", wrong, f"a ratio of {SPAN:g} is allowed, or 0")


def _scaled(u: float, v: float, dim: int, gap: float, p: float, q: float, power: float) -> _Optimum:
    """Solve for u <= v with all numbers divided by a power of two, which rounds nothing."""
    exponent = math.frexp(max(v, gap, power))[1]
    unit = math.ldexp(1.0, -max(exponent, -1000))
    u, v, gap, power = u * unit, v * unit, gap * unit, power * unit
    surplus = power - q * dim * (v - u)
    if abs(surplus) < CANCELED * power and v > u:
        surplus = _exact_surplus(u, v, dim, p, q, power)
    x, z, y, sum_kl, price = _solve(_Problem(u, v, dim - 1.0, gap, p, q, power, surplus))
    return _Optimum(x / unit, z / unit, y / unit, sum_kl, price * unit)


def _exact_surplus(u: float, v: float, dim: int, p: float, q: float, power: float) -> float:
    """power - q dim (v - u), rounded once: floats are fractions, and these are quotients of integers."""
    (un, ud), (vn, vd), (wn, wd) = u.as_integer_ratio(), v.as_integer_ratio(), power.as_integer_ratio()
    qn, qd = q.as_integer_ratio()
    if q > 0.5:  # 1 - p was rounded for p < 1/2
        pn, qd = p.as_integer_ratio()
        qn = qd - pn
    return (wn * qd * ud * vd - qn * dim * (vn * ud - un * vd) * wd) / (wd * qd * ud * vd)


def _solve(problem: _Problem) -> _Optimum:
    """Try the cases in turn; each says None where its signs of the multipliers are wrong."""
    u, v, _, gap, p, q, power, surplus = problem
    if gap == 0.0 and surplus >= 0.0:
        return _Optimum(v - u, v - u, 0.0, 0.0, 0.0)
    if q * u + p * v + power == 0.0:  # a class with all the examples, at one point
        return _Optimum(0.0, 0.0, 0.0, math.inf, math.inf)
    return _positives_only(problem) or _negatives_only(problem) or _both(problem)


def _excess(C: float, gap: float, p: float, q: float) -> tuple[float, float]:
    """The best ratio r of the positives' variance along to the negatives', and r - 1."""
    r = math.sqrt((C + q * gap) / (C + p * gap))
    return r, (q - p) * gap / ((C + p * gap) * (r + 1.0))


def _positives_only(problem: _Problem) -> _Optimum | None:
    """A = a = u: the noise makes the positives' variance larger than it was, as their larger share is cheap."""
    u, v, others, gap, p, q, power, _ = problem
    _, excess = _excess(q * u + p * v + power, gap, p, q)
    if not power + p * (v - u) < p * u * excess:
        return None
    y = power / p
    B, difference = v + y, v - u + y
    sum_kl = others * (v - u) / u * (v - u) / v + difference / u * difference / B + gap / u + gap / B
    price = (gap - difference / u * (u + B)) / B / B / p
    return _Optimum(0.0, 0.0, y, sum_kl / 2, price)


def _negatives_only(problem: _Problem) -> _Optimum | None:
    """B = v: power suffices at most to make the negatives' variances those of the positives."""
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
    if (r * (u + x) - v if r > 2.0 else r * off + v * excess) >= 0.0:  # r A >= v: see _both
        return None
    A, a = u + x, max(u, rho * (u + x))
    if A == 0.0 or (others and a == 0.0):
        return _Optimum(x, z, 0.0, math.inf, math.inf)
    sum_kl = off / A * off / v + gap / A + gap / v
    if others:
        sum_kl += others * short / a * short / v
    return _Optimum(x, z, 0.0, sum_kl / 2, (gap - off / v * (A + v)) / A / A / q)


def _rest(grown: float, lost: float, unspent: float, others: float) -> float:
    """The noise across, grown - lost = unspent / others, by the difference that cancels less."""
    if not others:
        return 0.0
    return grown - lost if grown > 2.0 * lost else max(0.0, unspent / others)


def _both(problem: _Problem) -> _Optimum:
    """A = C / (q + p r) and B = r A: split the power between along and across, then along between the classes."""
    u, v, others, gap, p, q, power, _ = problem
    least = q * u + p * v
    along, a, short, z = power, u, v - u, 0.0
    if others and v > u and _across(least + power, problem)[2] > 0.0:
        along, a, short, z = _split(problem, least)
    C = least + along
    r, excess = _excess(C, gap, p, q)
    weight = q + p * r
    wanted = u * excess - (v - u)  # r u - v
    x, y = max(0.0, (along - p * wanted) / weight), max(0.0, (r * along + q * wanted) / weight)
    sum_kl = excess / r * excess + gap * weight / C * (1.0 + 1.0 / r)
    if others and short:
        sum_kl += others * short / a * short / v if a else math.inf
    phi = 1.0 + (C + 2.0 * p * q * gap) / (math.sqrt(C + p * gap) * math.sqrt(C + q * gap))
    return _Optimum(x, z, y, sum_kl / 2, gap / C / C * phi)


def _across(C: float, problem: _Problem) -> tuple[float, float, float, float]:
    """What the price of power at C asks for across: (a, v - a, the noise a - u, its derivative in C).

    The noise is negative if that is less variance than there is without noise.
    """
    u, v, _, gap, p, q, _, _ = problem
    P, Q = C + p * gap, C + q * gap
    root = math.sqrt(P) * math.sqrt(Q)
    phi = 1.0 + (C + 2.0 * p * q * gap) / root
    steep = q * v / C * gap / C
    w = steep * phi
    R = math.sqrt(1.0 + w)
    a = v / R
    turn = (q - p) * (q - p) * (gap / P) * (C / Q) * (C / root) / 2.0
    slope = 0.5 * (a / C) * (steep / (1.0 + w)) * (2.0 * phi - turn)
    if w > 1.0:
        return a, v - a, a - u, slope
    short = a * w / (1.0 + R)
    return a, short, v - u - short, slope


def _split(problem: _Problem, least: float) -> tuple[float, float, float, float]:
    """The power spent along, a, v - a and the noise across, by Newton steps within a bracket."""
    u, v, others, _, _, q, power, surplus = problem
    cost, even = others * q, q * (v - u)
    low, high = max(power / (others + 1.0), surplus + even), power
    k = low
    for _ in range(100):
        a, short, z, slope = _across(least + k, problem)
        # What is left of the power; where v - a is small, that is a small difference of large numbers.
        left = surplus - (k - even) + cost * short if z > short else power - k - cost * z
        step = left / (1.0 + cost * slope)
        if abs(step) <= SETTLED * k:
            break
        low, high = (k, high) if left > 0.0 else (low, k)
        k += step
        if not low <= k <= high:
            k = (low + high) / 2
    else:
        (a, short, z, slope), step = _across(least + k, problem), 0.0
    moved = slope * step
    k, a, short, z = k + step, a + moved, short - moved, max(0.0, z + moved)
    if cost * z <= power / 2:
        return power - cost * z, a, short, z
    return k, a, short, (power - k) / cost


def _power(u: float, v: float, dim: int, gap: float, p: float, q: float, target: float) -> float:
    """The root of sumKL(power) = target for u <= v: Newton steps on the convex, decreasing function, bracketed."""
    start = _scaled(u, v, dim, gap, p, q, 0.0)
    if start.sum_kl <= target:
        return 0.0
    equal = q * dim * (v - u)
    high = equal if gap == 0.0 else math.inf if target == 0.0 else (equal + max(0.0, gap / target - v)) * ROOM
    while high < math.inf and _scaled(u, v, dim, gap, p, q, high).sum_kl > target:
        high = math.nextafter(high * (1.0 + 4.0 * sys.float_info.epsilon), math.inf)
    if high == math.inf or target == 0.0:
        return high
    low = 0.0
    power = max(low, min(high, _least_power(u, v, dim, gap, p, q, target, start)))
    aim = target * (1.0 - SLACK / 2)
    for _ in range(200):
        found = _scaled(u, v, dim, gap, p, q, power)
        if target * (1.0 - SLACK) <= found.sum_kl <= target:
            return power
        if found.sum_kl > target:
            low = power
        else:
            high = power
        power = _next(power, found, aim, low, high)
        if not low < power < high:
            break
    return high


def _least_power(u: float, v: float, dim: int, gap: float, p: float, q: float, target: float, start: _Optimum) -> float:
    """A lower bound of the power: what the distance of the means, the variances, and the slope at 0 each ask for."""
    t = target / dim
    lost = t + math.sqrt(t) * math.sqrt(t + 2.0)
    variances = q * dim * ((v - u) - v * lost / (1.0 + lost))
    means = gap / (2.0 * target) - q * u - p * v
    slope = 2.0 * (start.sum_kl - target) / start.price if start.price < math.inf else 0.0
    return max(variances, means, slope)


def _next(power: float, found: _Optimum, aim: float, low: float, high: float) -> float:
    """The farthest of three Newton steps, on the logarithms, the root and sumKL itself, that stays in the bracket."""
    value, slope = found.sum_kl, found.price / 2
    if slope > 0.0 and value > 0.0:
        ratio = math.log(value / aim)
        bend = value / slope * ratio
        steps = [power * math.exp(bend / power)] if power > 0.0 and abs(bend) < 100 * power else []
        steps += [power + 2.0 * (value - math.sqrt(value * aim)) / slope, power + (value - aim) / slope]
        for step in steps:
            if low < step < high:
                return step
    return (low + high) / 2 if high < 4 * low or low == 0 else math.sqrt(low) * math.sqrt(high)
