"""Promises of differential privacy over a whole training, by Google's dp-accounting: the noise, and the worst leak.

The worst leak is the largest AUC of any score that tells two inputs apart by all that is sent. It follows from the
mechanism's privacy loss distribution, which says for each epsilon the least delta, and so how many true positives a
number of false positives can have at most.
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
FALSE = np.concatenate([[0.0], np.geomspace(1e-9, 0.5, 1000)])  # rates of false positives, below a half


@functools.cache
def gaussian_deviation(epsilon: float, delta: float, num_releases: int, sensitivity: float) -> float:
    """The least standard deviation for which so many Gaussian mechanisms together are (epsilon, delta)-private.

    `sensitivity` is in the L2 norm.
    """
    wanted = common.DifferentialPrivacyParameters(epsilon, delta)
    return float(accountant.get_smallest_gaussian_noise(wanted, num_releases, sensitivity))


@functools.cache
def laplace_deviation(epsilon: float, delta: float, num_releases: int) -> float:
    """The same for Laplace mechanisms of L1 sensitivity 1."""
    wanted = common.DifferentialPrivacyParameters(epsilon, delta)
    return math.sqrt(2) * float(accountant.get_smallest_laplace_noise(wanted, num_releases))


def gaussian_auc(epsilon: float, delta: float, num_releases: int) -> float:
    """The worst leak of so many Gaussian mechanisms with the noise of `gaussian_deviation`: Phi(mu / sqrt 2).

    Together they are one, with mu = sensitivity sqrt(num_releases) / deviation: Dong, Roth, Su, "Gaussian Differential
    Privacy", corollary 3.3. So the number of releases matters only as far as the deviation is rounded.
    """
    mu = math.sqrt(num_releases) / gaussian_deviation(epsilon, delta, num_releases, 1.0)
    return float(norm.cdf(mu / math.sqrt(2)))


def laplace_auc(epsilon: float, delta: float, num_releases: int) -> float:
    """The worst leak of so many Laplace mechanisms with the noise of `laplace_deviation`."""
    scale = laplace_deviation(epsilon, delta, num_releases) / math.sqrt(2)
    one = pld.from_laplace_mechanism(scale, value_discretization_interval=INTERVAL)
    return largest_auc(one.self_compose(num_releases))


def response_auc(epsilon: float, classes: int) -> float:
    """The worst leak of which of two labels is true, by randomized response among so many, drawn once.

    Of the two a draw is the true one, the other or neither: of two draws the likelier one is ranked higher, ties half.
    """
    lie = math.exp(-epsilon) / (1 + (classes - 1) * math.exp(-epsilon))
    true, neither = 1 - (classes - 1) * lie, (classes - 2) * lie
    return 0.5 + 0.5 * (true - lie) * (true + lie + 2 * neither)


def largest_auc(losses: pld.PrivacyLossDistribution) -> float:
    """The largest AUC of a score, by the privacy losses of a mechanism, in a million parts.

    Of f false positives at most the least of e^epsilon f + delta(epsilon) are true ones, over all epsilon (Wasserman,
    Zhou, "A Statistical Framework for Differential Privacy"). Some epsilons bound it from above; the area is exact
    but for that and the strips between rates.
    """
    delta = np.array(losses.get_delta_for_epsilon(EPSILONS.tolist()))
    false = np.concatenate([FALSE, 1 - FALSE[::-1]])
    true = np.array([np.min(np.exp(EPSILONS) * rate + delta) for rate in false])
    return float(np.trapezoid(true.clip(0, 1), false))
