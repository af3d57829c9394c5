"""Optimal noise for a given power, in the caller's units and order of classes."""

from __future__ import annotations

import math

from cutlayer.gradient_noise.cases import solve
from cutlayer.gradient_noise.inputs import check
from cutlayer.gradient_noise.problem import GradientNoise, Optimum, Problem

# A surplus of power below this part of the power is computed again, exactly.
CANCELED = 1e-3


def optimal_noise(u: float, v: float, dim: int, gap: float, positive_fraction: float, power: float) -> GradientNoise:
    """Optimal noise of marvell: the least sumKL under p tr Sigma1 + (1 - p) tr Sigma0 <= power.

    `u` and `v` are the variances of negatives and positives, `gap` is the squared distance of their means. sumKL is
    correct to 1e-8, relative, for magnitudes up to 1e24 apart (1e-12 is observed). It is inf with power 0 only (or
    beyond the largest float): when a class that has examples has variance 0 and the other has another variance or
    mean. All of the power is spent, except where less makes sumKL 0.

    A class without examples (positive_fraction 0 or 1) may get noise at no cost. Numbers that are negative, not finite
    or 1e150 times another, a fraction outside [0, 1] and a dim that is not a positive integer are an InputError.
    """
    check("optimal_noise", dim, positive_fraction, u=u, v=v, gap=gap, power=power)
    u, v, dim, gap, p, power = float(u), float(v), int(dim), float(gap), float(positive_fraction), float(power)
    if u > v:
        flipped = scaled(v, u, dim, gap, 1.0 - p, p, power)
        return GradientNoise(flipped.y, 0.0, flipped.x, flipped.z, flipped.sum_kl)
    found = scaled(u, v, dim, gap, p, 1.0 - p, power)
    return GradientNoise(found.x, found.z, found.y, 0.0, found.sum_kl)


def scaled(u: float, v: float, dim: int, gap: float, p: float, q: float, power: float) -> Optimum:
    """Solve for u <= v, with all numbers scaled by a power of two, which is exact."""
    exponent = math.frexp(max(v, gap, power))[1]
    unit = math.ldexp(1.0, -max(exponent, -1000))
    u, v, gap, power = u * unit, v * unit, gap * unit, power * unit
    surplus = power - q * dim * (v - u)
    if abs(surplus) < CANCELED * power and v > u:
        surplus = _exact_surplus(u, v, dim, p, q, power)
    x, z, y, sum_kl, price = solve(Problem(u, v, dim - 1.0, gap, p, q, power, surplus))
    return Optimum(x / unit, z / unit, y / unit, sum_kl, price * unit)


def _exact_surplus(u: float, v: float, dim: int, p: float, q: float, power: float) -> float:
    """power - q dim (v - u), rounded once: floats are fractions, and these are quotients of integers."""
    (un, ud), (vn, vd), (wn, wd) = u.as_integer_ratio(), v.as_integer_ratio(), power.as_integer_ratio()
    qn, qd = q.as_integer_ratio()
    if q > 0.5:  # 1 - p was rounded for p < 1/2
        pn, qd = p.as_integer_ratio()
        qn = qd - pn
    return (wn * qd * ud * vd - qn * dim * (vn * ud - un * vd) * wd) / (wd * qd * ud * vd)
