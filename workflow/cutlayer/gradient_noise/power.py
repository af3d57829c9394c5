"""Smallest noise power that reaches a target divergence: the root of sumKL(power) = target."""

from __future__ import annotations

import math
import sys

from cutlayer.core.errors import InputError
from cutlayer.gradient_noise.inputs import check
from cutlayer.gradient_noise.optimum import scaled
from cutlayer.gradient_noise.problem import Optimum

# `power_for` may fall short of the target by this relative difference.
SLACK = 1e-12

# Factor on an upper bound of the power: a bound that is the root itself would stop Newton's last step.
ROOM = 1.0 + 1e-6


def power_for(u: float, v: float, dim: int, gap: float, positive_fraction: float, sum_kl: float) -> float:
    """Smallest noise power whose optimal sumKL is at most `sum_kl`: 0 if that holds without noise.

    `optimal_noise` at the power returned never gives more than `sum_kl`; it gives at most 1e-12, relative, less, or
    the next smaller float gives more than `sum_kl`. inf is what no power reaches: `sum_kl` = 0 with `gap` > 0, or a
    power beyond the largest float. A power 1e150 times another number is returned, but refused by `optimal_noise`.
    """
    check("power_for", dim, positive_fraction, u=u, v=v, gap=gap)
    u, v, dim, gap, p = float(u), float(v), int(dim), float(gap), float(positive_fraction)
    if not sum_kl >= 0:
        raise InputError("gradient_noise.power_for", f"sum_kl = {sum_kl!r}", "a number that is at least 0")
    if u > v:
        return _power(v, u, dim, gap, 1.0 - p, p, float(sum_kl))
    return _power(u, v, dim, gap, p, 1.0 - p, float(sum_kl))


def _power(u: float, v: float, dim: int, gap: float, p: float, q: float, target: float) -> float:
    """The root of sumKL(power) = target for u <= v: Newton steps on the convex, decreasing function, bracketed."""
    start = scaled(u, v, dim, gap, p, q, 0.0)
    if start.sum_kl <= target:
        return 0.0
    equal = q * dim * (v - u)
    high = equal if gap == 0.0 else math.inf if target == 0.0 else (equal + max(0.0, gap / target - v)) * ROOM
    while high < math.inf and scaled(u, v, dim, gap, p, q, high).sum_kl > target:
        high = math.nextafter(high * (1.0 + 4.0 * sys.float_info.epsilon), math.inf)
    if high == math.inf or target == 0.0:
        return high
    low = 0.0
    power = max(low, min(high, _least_power(u, v, dim, gap, p, q, target, start)))
    aim = target * (1.0 - SLACK / 2)
    for _ in range(200):
        found = scaled(u, v, dim, gap, p, q, power)
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


def _least_power(u: float, v: float, dim: int, gap: float, p: float, q: float, target: float, start: Optimum) -> float:
    """A lower bound on the power, from the distance of the means, the variances, and the slope at 0."""
    t = target / dim
    lost = t + math.sqrt(t) * math.sqrt(t + 2.0)
    variances = q * dim * ((v - u) - v * lost / (1.0 + lost))
    means = gap / (2.0 * target) - q * u - p * v
    slope = 2.0 * (start.sum_kl - target) / start.price if start.price < math.inf else 0.0
    return max(variances, means, slope)


def _next(power: float, found: Optimum, aim: float, low: float, high: float) -> float:
    """The largest of three Newton steps, on the logarithms, the root and sumKL itself, that stays in the bracket."""
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
