"""Theorems of the tappfl paper on an attribute u, a label y and representations r, with corrections.

Arroyo Arevalo, Noorbakhsh, Dong, Hong, Wang, "Task-Agnostic Privacy-Preserving Representation Learning for Federated
Learning against Attribute Inference Attacks". Theorem 1 is about u and y of two values, 0 and 1. Entropies are in bits.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import entr
from scipy.stats import linregress

from cutlayer.core.errors import InputError

ROUNDING = 1e-12  # bits subtracted from an entropy, so that rounding never puts a bound below what it bounds


def difference(bits: np.ndarray, attribute: np.ndarray) -> float:
    """Difference |Pr(bit = 1 | u = 0) - Pr(bit = 1 | u = 1)|, of bits (n,) and attribute (n,), both 0 or 1.

    For labels this is theorem 1's Delta_{y|u}; for an adversary's guesses of u its advantage (equation 8).

    Raises:
        InputError: a value of u has no row.

    """
    zeros, ones = _by_attribute(bits, attribute)
    return abs(zeros - ones)


def total_variation(first: np.ndarray, second: np.ndarray) -> float:
    """Total variation between two distributions (k,).

    For r given either value of u this is the advantage of the worst-case adversary (equation 14).
    """
    return float(np.abs(first - second).sum() / 2)


def err(losses: np.ndarray, attribute: np.ndarray) -> float:
    """Theorem 1's classification error: the mean loss where u = 0 plus the mean loss where u = 1.

    Losses (n,), attribute (n,). It is a sum: with the 0/1 loss it lies in [0, 2], and it can be 1 where nearly all rows
    are classified correctly. The paper's loss is the cross-entropy, which is unbounded (erratum 7).

    Raises:
        InputError: a value of u has no row.

    """
    return sum(_by_attribute(losses, attribute))


def _by_attribute(values: np.ndarray, attribute: np.ndarray) -> tuple[float, float]:
    found = [values[attribute == a] for a in (0, 1)]
    if not all(map(len, found)):
        raise InputError("theory.tappfl", "a value of the attribute has no row", "theorem 1 is about two values")
    return float(found[0].mean()), float(found[1].mean())


def theorem1(delta: float, advantage: float, radius: float, lipschitz: float) -> float:
    """Theorem 1: the lower bound Delta_{y|u} - 2 R C_L Adv on `err` (equation 9).

    R bounds the norm of r, C_L the Lipschitz norm of the task's classifier c. It holds:

    - For c with values in [0, 1] and the loss |y - c|, and so for the loss -ln(1 - |y - c|), cross-entropy in nats.
    - For c with values 0 and 1 and the 0/1 loss. Cross-entropy of a probability bounds that loss in bits, not in nats,
      where an error at probability 1/2 costs ln 2 only: equation 15's last step fails (erratum 7).
    - In all these cases Delta - Adv is a bound too, whatever R and C_L: `theorem1_any`. It is the larger one wherever
      2 R C_L > 1; 2 R C_L >= 1 for each c that takes the values 0 and 1.
    """
    return delta - 2 * radius * lipschitz * advantage


def theorem1_any(delta: float, advantage: float) -> float:
    """Theorem 1 for any classifier: the lower bound Delta_{y|u} - Adv on `err`, see `theorem1`.

    No map of r, c included, distinguishes its distributions under u = 0 and u = 1 better than the worst-case adversary.
    """
    return delta - advantage


def conditional_entropy(joint: np.ndarray) -> float:
    """Conditional entropy H(u | r) in bits of a joint distribution or of counts (values of u, values of r)."""
    p = joint / joint.sum()
    return max(0.0, float(entr(p).sum() - entr(p.sum(axis=0)).sum()) / math.log(2))


def theorem2_printed(entropy: float) -> float:
    """Theorem 2 as published: the upper bound 1 - H / (2 log2(6 / H)) on any adversary's accuracy, H(u | r) in bits.

    Its proof assumes that u is known where the guess is wrong, which holds for two values only, and Calabro's
    inequality, its last step, is for H <= 1. For three values the bound holds nevertheless; for four and more it does
    not (erratum 2).

    Raises:
        InputError: H is negative, or not below 6, where the formula ends.

    """
    if not 0 <= entropy < 6:
        raise InputError("theory.tappfl", f"an entropy of {entropy} bits", "expected 0 or more, and less than 6")
    return 1 - entropy / (2 * math.log2(6 / entropy)) if entropy else 1.0


def theorem2_corrected(entropy: float, values: int) -> float:
    """Theorem 2 corrected: the upper bound on accuracy by Fano's inequality, of H(u | r) in bits and values of u.

    With error P_e, H <= h(P_e) + P_e log2(values - 1); the right side increases up to P_e = 1 - 1 / values. Some u and
    r attain it at each H: u is uniform, and all wrong values are equally likely.
    Fano, see Cover and Thomas, "Elements of Information Theory", theorem 2.10.1.

    Raises:
        InputError: u has fewer than two values, or H is not between 0 and log2(values).

    """
    if values < 2:
        raise InputError("theory.tappfl", f"an attribute of {values} values", "expected at least 2")
    most = math.log2(values)
    if not 0 <= entropy <= most * (1 + 1e-9):
        raise InputError("theory.tappfl", f"an entropy of {entropy} bits", f"0 to {most:.4g} for {values} values")
    entropy = min(entropy, most) - ROUNDING
    if entropy <= 0:
        return 1.0
    return 1 - float(brentq(lambda error: fano(error, values) - entropy, 0, 1 - 1 / values, xtol=1e-15))


def fano(error: float, values: int) -> float:
    """Fano's bound h(P_e) + P_e log2(values - 1) in bits: the largest conditional entropy at an error rate P_e."""
    return float(entr(error) + entr(1 - error)) / math.log(2) + error * math.log2(values - 1)


def trend(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope and intercept of the least-squares line through points x (n,), y (n,): the lines of figure 2.

    Raises:
        InputError: all x are equal.

    """
    if len(np.unique(x)) < 2:
        raise InputError("theory.tappfl", "a line through points of one x", "expected at least two different ones")
    line = linregress(x, y)
    return float(line.slope), float(line.intercept)
