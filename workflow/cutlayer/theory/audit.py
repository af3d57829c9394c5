"""Lower bounds on the privacy loss from guesses of coins, and what a bound of one kind is in another.

Of m coins, summed over trainings, the adversary guesses r, a share of m that is fixed beforehand, and v are right. If
the mechanism is (epsilon, delta)-private, v is dominated by a binomial with q = e^epsilon / (1 + e^epsilon) up to what
delta allows, whatever depends on what:

    p(epsilon) = P[Bin(r, q) >= v] + 2 m delta max over i = 1..v of P[v > Bin(r, q) >= v - i] / i

An epsilon of which p is below 5% is ruled out. For an attack that is fixed this is exact.

After Steinke, Nasr, Jagielski, "Privacy Auditing with One (1) Training Run", for two equally likely labels in place of
membership, as in the code of jax-privacy 2.0.0, with whose numbers a test compares it; Dong, Roth, Su, "Gaussian
Differential Privacy", corollary 2.13.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtr, ndtri
from scipy.stats import binom

LARGEST = 60.0  # epsilon that is looked for
SURE = 0.05  # p-value at which an epsilon is ruled out


def p_value(epsilon: float, right: int, guessed: int, coins: int, delta: float = 0.0) -> float:
    """P-value of (epsilon, delta)-privacy when so many of the guesses of coins are right."""
    tail = binom.sf(np.arange(right - 1, -2, -1), guessed, expit(epsilon))  # P[Bin >= right], P[Bin >= right - 1], ...
    more = (tail[1:] - tail[0]) / np.arange(1, right + 1)
    return float(min(1.0, tail[0] + 2 * coins * delta * max(more, default=0.0)))


def epsilon(right: int, guessed: int, coins: int, delta: float = 0.0) -> float:
    """The largest epsilon that is ruled out with 95%; 0 if none is."""
    if p_value(0.0, right, guessed, coins, delta) >= SURE:
        return 0.0
    return float(brentq(lambda e: p_value(e, right, guessed, coins, delta) - SURE, 0.0, LARGEST, xtol=1e-10))


def auc(epsilon: float) -> float:
    """AUC of a score of pure epsilon that attains it: that of one draw of randomized response."""
    return float(expit(epsilon))


def mu(auc: float) -> float:
    """The mu of a Gaussian mechanism with this AUC."""
    return float(math.sqrt(2) * ndtri(auc))


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The least epsilon for which a mu-Gaussian mechanism is (epsilon, delta)-private; infinite if mu is."""
    if not 0 < mu < math.inf:
        return mu

    def excess(epsilon: float) -> float:
        return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu) - delta)

    return 0.0 if excess(0.0) <= 0 else float(brentq(excess, 0.0, mu * (mu + 40), xtol=1e-10))
