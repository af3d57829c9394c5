"""Theory of the marvell paper: the symmetric divergence sumKL of the gradients, and the bounds that follow from it.

Li et al., "Label Leakage and Protection in Two-party Split Learning", 4.2 and appendix. `u` is the variance of the
negatives and `v` that of the positives, as in the published objective (erratum 1).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import norm

from cutlayer.gradient_noise import GradientNoise


def symmetric_divergence(difference: np.ndarray, cov0: np.ndarray, cov1: np.ndarray) -> float:
    """Symmetric divergence KL(1 || 0) + KL(0 || 1) of normals with covariances (d, d) whose means differ by (d,)."""
    inverse0, inverse1 = np.linalg.inv(cov0), np.linalg.inv(cov1)
    traces = np.trace(inverse0 @ cov1) + np.trace(inverse1 @ cov0) - 2 * len(difference)
    return float(traces + difference @ (inverse0 + inverse1) @ difference) / 2


def covariances(noise: GradientNoise, u: float, v: float, difference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The covariances (d, d) of the perturbed negatives and positives (theorem 1)."""
    along = np.outer(difference, difference) / (difference @ difference)
    across = np.eye(len(difference)) - along
    negatives = (u + noise.negative_along) * along + (u + noise.negative_across) * across
    positives = (v + noise.positive_along) * along + (v + noise.positive_across) * across
    return negatives, positives


def objective(noise: GradientNoise, u: float, v: float, dim: int, gap: float) -> float:
    """The published objective of four variables: twice sumKL, plus 2 dim. `gap` is the squared distance."""
    a0, a1 = noise.negative_along + u, noise.positive_along + v
    b0, b1 = noise.negative_across + u, noise.positive_across + v
    return (dim - 1) * (b0 / b1 + b1 / b0) + (a0 + gap) / a1 + (a1 + gap) / a0


def total_variation_bound(sum_kl: float) -> float:
    """Upper bound on the total variation between the two distributions from sumKL, by Pinsker and Jensen."""
    return min(1.0, math.sqrt(sum_kl) / 2)


def detection_error(sum_kl: float) -> float:
    """Lower bound on the mean of false positive and false negative rates of any detector."""
    return (1 - total_variation_bound(sum_kl)) / 2


def target(error: float) -> float:
    """The sumKL at which no detector's error is less than `error` (L in the paper), from 0 to 1/2."""
    return (2 - 4 * error) ** 2


def composed_auc(sum_kl: float, epochs: int) -> float:
    """AUC of the optimal score of a row with one release in each epoch, if gradients are as the paper models them.

    Noise is drawn anew each time, and divergences of independent releases add up. Two normal distributions of equal
    covariance with sumKL = s are sqrt(s) standard deviations apart, so that the likelihood ratio has Phi(sqrt(s / 2)).
    That is the leakage of theorem 1 along the difference of the means. Not in the paper, which considers one release.
    """
    return float(norm.cdf(math.sqrt(epochs * sum_kl / 2)))


def dimension(gradients: np.ndarray) -> float:
    """Effective dimension of rows (n, d): (sum of variances)^2 / sum of their squares, from 1 to d.

    The variances are those along the principal axes. The paper models each class as isotropic, for which this is d; 0
    for equal rows.
    """
    centered = np.asarray(gradients, dtype=np.float64) - np.mean(gradients, axis=0, dtype=np.float64)
    variances = np.square(np.linalg.svd(centered / (np.abs(centered).max() or 1), compute_uv=False))
    return float(variances.sum() ** 2 / np.square(variances).sum()) if variances.any() else 0.0


def auc_bound(sum_kl: float) -> float:
    """Upper bound on the AUC from sumKL: no ROC curve is more than the total variation above the diagonal."""
    tv = total_variation_bound(sum_kl)
    return 0.5 + tv - tv**2 / 2
