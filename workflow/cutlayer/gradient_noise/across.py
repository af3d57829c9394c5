"""Split of the noise power between the directions along and across the mean difference, and between the classes."""

from __future__ import annotations

import math

from cutlayer.gradient_noise.problem import Problem

# Relative width of a Newton step that is the last: the steps converge quadratically.
SETTLED = 1e-7


def across(C: float, problem: Problem) -> tuple[float, float, float, float]:
    """The optimal noise across at the price of power for C: (a, v - a, the noise a - u, its derivative in C).

    The noise is negative if the optimum is below the variance without noise.
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


def split(problem: Problem, least: float) -> tuple[float, float, float, float]:
    """The power spent along, a, v - a and the noise across, by Newton steps within a bracket."""
    u, v, others, _, _, q, power, surplus = problem
    cost, even = others * q, q * (v - u)
    low, high = max(power / (others + 1.0), surplus + even), power
    k = low
    for _ in range(100):
        a, short, z, slope = across(least + k, problem)
        # The remaining power; where v - a is small, it is a small difference of large numbers.
        left = surplus - (k - even) + cost * short if z > short else power - k - cost * z
        step = left / (1.0 + cost * slope)
        if abs(step) <= SETTLED * k:
            break
        low, high = (k, high) if left > 0.0 else (low, k)
        k += step
        if not low <= k <= high:
            k = (low + high) / 2
    else:
        (a, short, z, slope), step = across(least + k, problem), 0.0
    moved = slope * step
    k, a, short, z = k + step, a + moved, short - moved, max(0.0, z + moved)
    if cost * z <= power / 2:
        return power - cost * z, a, short, z
    return k, a, short, (power - k) / cost
