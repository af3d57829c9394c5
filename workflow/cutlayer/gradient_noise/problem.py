"""The optimization problem in numbers, and its solution."""

from __future__ import annotations

from typing import NamedTuple


class GradientNoise(NamedTuple):
    """Variances of the noise on negatives and positives, along and across the mean difference, and their sumKL.

    `sum_kl` is the optimum itself; evaluated at the rounded variances it can be larger where it is far below 1.
    """

    negative_along: float
    negative_across: float
    positive_along: float
    positive_across: float
    sum_kl: float


class Optimum(NamedTuple):
    """The solution for u <= v: noise x of the negatives along, z across, y of the positives along; none across."""

    x: float
    z: float
    y: float
    sum_kl: float
    price: float  # of power: twice the decrease of sumKL by a unit of it


class Problem(NamedTuple):
    """The problem's numbers for u <= v, scaled so that the largest is near 1."""

    u: float
    v: float
    others: float  # dimensions across: dim - 1
    gap: float
    p: float
    q: float
    power: float
    surplus: float  # the remaining power after making the variances equal; negative if it does not suffice
