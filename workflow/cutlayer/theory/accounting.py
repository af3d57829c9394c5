"""Accounting of differential privacy over a whole training: calibrated noise, and bounds on the AUC of any attack.

The bound is the largest AUC of any score that distinguishes two inputs by all releases. It follows from the mechanism's
privacy loss distribution, which gives the least delta for each epsilon, and so the largest true positive rate for each
false positive rate. The accounting is that of Google's dp-accounting.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from dp_accounting.pld import accountant, common
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy.stats import norm

INTERVAL = 1e-3  # to which privacy losses are rounded; always to the adversary's advantage
EPSILONS = np.linspace(-20, 20, 4001)
MISSED = 1e-5
FALSE = np.concatenate([[0.0], np.geomspace(1e-9, 0.5, 1000)])  # false positive rates, below a half


@functools.cache
def gaussian_deviation(epsilon: float, delta: float, num_releases: int, sensitivity: float) -> float:
    """The least standard deviation for which so many composed Gaussian mechanisms are (epsilon, delta)-private.

    `sensitivity` is in the L2 norm.
    """
    wanted = common.DifferentialPrivacyParameters(epsilon, delta)
    return float(accountant.get_smallest_gaussian_noise(wanted, num_releases, sensitivity))


@functools.cache
def laplace_deviation(epsilon: float, delta: float, num_releases: int) -> float:
    """The least standard deviation for which so many composed Laplace mechanisms are (epsilon, delta)-private.

    Their L1 sensitivity is 1.
    """
    wanted = common.DifferentialPrivacyParameters(epsilon, delta)
    return math.sqrt(2) * float(accountant.get_smallest_laplace_noise(wanted, num_releases))


def gaussian_auc(epsilon: float, delta: float, num_releases: int) -> float:
    """Upper bound on the AUC from so many Gaussian mechanisms with the noise of `gaussian_deviation`: Phi(mu / sqrt 2).

    They compose to one, with mu = sensitivity sqrt(num_releases) / deviation: Dong, Roth, Su, "Gaussian Differential
    Privacy", corollary 3.3. So the number of releases matters only by the rounding of the deviation.
    """
    mu = math.sqrt(num_releases) / gaussian_deviation(epsilon, delta, num_releases, 1.0)
    return float(norm.cdf(mu / math.sqrt(2)))


def laplace_auc(epsilon: float, delta: float, num_releases: int) -> float:
    """Upper bound on the AUC from so many Laplace mechanisms with the noise of `laplace_deviation`."""
    return laplace_releases_auc(laplace_deviation(epsilon, delta, num_releases) / math.sqrt(2), num_releases)


@functools.cache
def laplace_releases_auc(scale: float, num_releases: int) -> float:
    """Upper bound on the AUC from so many Laplace mechanisms of sensitivity 1 in L1 and this scale of the noise."""
    one = pld.from_laplace_mechanism(scale, value_discretization_interval=INTERVAL)
    return largest_auc(one.self_compose(num_releases))


def response_auc(epsilon: float, classes: int) -> float:
    """Upper bound on the AUC between two labels from one draw of randomized response among so many classes.

    A draw is the true label, the other or neither: of two draws the likelier one is ranked higher, ties count half.
    """
    lie = math.exp(-epsilon) / (1 + (classes - 1) * math.exp(-epsilon))
    true, neither = 1 - (classes - 1) * lie, (classes - 2) * lie
    return 0.5 + 0.5 * (true - lie) * (true + lie + 2 * neither)


def largest_auc(losses: pld.PrivacyLossDistribution) -> float:
    """Upper bound on the AUC of any score, from a mechanism's privacy loss distribution, to two parts in 100,000.

    At a false positive rate f the true positive rate is at most the least e^epsilon f + delta(epsilon) over all epsilon
    (Wasserman, Zhou, "A Statistical Framework for Differential Privacy"). A finite set of epsilons bounds it from
    above; the strips between rates, which are trapezoids below a concave curve, lack less than MISSED.
    """
    delta = np.array(losses.get_delta_for_epsilon(EPSILONS.tolist()))
    false = np.concatenate([FALSE, 1 - FALSE[::-1]])
    true = np.array([np.min(np.exp(EPSILONS) * rate + delta) for rate in false])
    return min(1.0, float(np.trapezoid(true.clip(0, 1), false)) + MISSED)
