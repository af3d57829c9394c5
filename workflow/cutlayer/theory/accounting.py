"""The least noise that keeps a promise of differential privacy over a whole training, by Google's dp-accounting."""

from __future__ import annotations

import functools
import math

from dp_accounting.pld import accountant, common


@functools.cache
def gaussian_deviation(epsilon: float, delta: float, releases: int, sensitivity: float) -> float:
    """The least standard deviation for which so many Gaussian mechanisms together are (epsilon, delta)-private.

    `sensitivity` is in the L2 norm.
    """
    wanted = common.DifferentialPrivacyParameters(epsilon, delta)
    return float(accountant.get_smallest_gaussian_noise(wanted, releases, sensitivity))


@functools.cache
def laplace_deviation(epsilon: float, delta: float, releases: int) -> float:
    """The same for Laplace mechanisms of L1 sensitivity 1."""
    wanted = common.DifferentialPrivacyParameters(epsilon, delta)
    return math.sqrt(2) * float(accountant.get_smallest_laplace_noise(wanted, releases))
