"""Estimators of the information of features about an attribute: Gaussian leakage, vCLUB, and Jensen-Shannon.

All are differentiable torch expressions in nats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy.sparse.linalg import LinearOperator, eigsh
from torch.nn.functional import softplus

from cutlayer.core.errors import InputError

WIDE = 256  # number of features from which on no d x d matrix is decomposed
FEW = 512  # rows up to which the rows are decomposed instead, and from which on Lanczos' method is used
MANY = 4096  # rows from which on moments and their gradient are taken in one pass each
FLAT = 1e-6  # share of the noise's variance that a constant axis has in a kernel


def gaussian_leakage(
    features: torch.Tensor, attribute: torch.Tensor, sigma: float, components: int | None = None, kernels: bool = False
) -> torch.Tensor:
    """Gaussian leakage L_p: the KL divergences between Gaussians fitted to the attribute's classes; a float64 scalar.

    (1/N^2) sum_a sum_{b != a} N_a N_b KL(p_a || p_b), where p_a is the Gaussian with the mean and the covariance
    (divisor N_a) of the features (N, d) whose `attribute` (N,) is a, plus noise of variance sigma^2. Missing classes
    are ignored. `components`: on so many principal components of the features, through which no gradients pass.
    `kernels`: p_a is estimated with Gaussian kernels (section 5.1), whose `bandwidths` replace the noise's variance.


    Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", equation (3); Hershey and
    Olsen, "Approximating the Kullback Leibler divergence between Gaussian mixture models", for the moments.
    """
    _check(features, attribute, sigma, components)
    z = features
    if components is not None and components < z.shape[1]:
        z = z.double() @ principal(z.detach().double(), components)
    values, place, counts = attribute.unique(return_inverse=True, return_counts=True)
    if len(values) < 2:
        return 0 * z.double().sum()

    means, scatter = (_Moments.apply if len(z) >= MANY else _moments)(z, place.argsort(stable=True), counts.tolist())
    noise = sigma**2 * torch.eye(z.shape[1]).to(scatter)
    covariance = scatter + (bandwidths(z.detach(), counts) + FLAT * noise if kernels else noise)
    precision = torch.cholesky_inverse(torch.linalg.cholesky(covariance))

    # KL(a||b) + KL(b||a): the logarithms of the determinants cancel.
    gap = means[:, None] - means[None]
    distance = torch.einsum("abi,aij,abj->ab", gap, precision, gap)  # in the metric of a
    traces = torch.einsum("aij,bji->ab", precision, covariance)
    share = counts.to(means) / len(z)
    kl = (traces - z.shape[1] + distance) / 2  # its sum over both orders of a and b is that of the divergences
    off = ~torch.eye(len(values), dtype=torch.bool, device=z.device)
    return (share[:, None] * share[None] * kl)[off].sum()


def bandwidths(z: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    """Kernel bandwidth matrices (A, k, k) by the normal scale rule, for classes of `counts` (A,) rows among z (N, k).

    (4 / ((k + 2) N_a))^(2 / (k + 4)) times the covariance of all rows: an unconstrained matrix, for which the paper
    names no selector. The covariance of a single class is singular if it has at most k rows.

    Duong, Hazelton, "Convergence rates for unconstrained bandwidth matrix selectors in multivariate kernel density
    estimation"; Wand, Jones, "Kernel Smoothing", 4.7, for the normal scale.
    """
    k, centered = z.shape[1], (z - z.mean(dim=0)).double()
    shares = (4 / ((k + 2) * counts.double())) ** (2 / (k + 4))
    return shares[:, None, None] * (centered.T @ centered / len(z))


def _moments(z: torch.Tensor, order: torch.Tensor, counts: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Means (A, d) and covariances (A, d, d) of the classes of rows z (N, d), where `order` (N,) sorts by class."""
    classes = z.double()[order].split(counts)
    means = torch.stack([rows.mean(dim=0) for rows in classes])
    centered = [rows - mean for rows, mean in zip(classes, means, strict=True)]
    return means, torch.stack([rows.T @ rows / len(rows) for rows in centered])


class _Moments(torch.autograd.Function):
    """Means and covariances of many rows in half of the time, without autograd's intermediate results.

    The gradient at a row is affine in it, by its class.
    """

    @staticmethod
    def forward(ctx: Any, z: torch.Tensor, order: torch.Tensor, counts: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
        classes = [rows.double() for rows in z[order].split(counts)]
        means = torch.stack([rows.mean(dim=0) for rows in classes])
        squares = torch.stack([rows.T @ rows / len(rows) for rows in classes])
        ctx.save_for_backward(z, order, means)
        ctx.counts = counts
        return means, squares - means[:, :, None] * means[:, None]

    @staticmethod
    def backward(ctx: Any, to_means: torch.Tensor, to_scatter: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        z, order, means = ctx.saved_tensors
        slope = to_scatter + to_scatter.mT
        offset = to_means - torch.einsum("aij,aj->ai", slope, means)
        found = torch.empty_like(z)
        for place, of_row, of_all in zip(order.split(ctx.counts), slope.to(z), offset.to(z), strict=True):
            found[place] = torch.addmm(of_all, z[place], of_row) / len(place)
        return found, None, None


def principal(z: torch.Tensor, components: int) -> torch.Tensor:
    """Leading principal axes (d, components) of the rows of z (N, d), to rounding; at most N if d is large.

    For many wide rows by Lanczos' method, which needs no d x d matrix; it always starts from the same vector.
    """
    centered = z - z.mean(dim=0)
    if z.shape[1] <= WIDE or components > z.shape[1] // 4:
        return torch.linalg.eigh(centered.T @ centered).eigenvectors[:, -components:]
    if len(z) <= FEW:
        return torch.linalg.svd(centered.T, full_matrices=False).U[:, :components]
    return _lanczos(centered, components)


def _lanczos(centered: torch.Tensor, components: int) -> torch.Tensor:
    """Leading principal axes of centered rows by Lanczos' method, see scipy's `eigsh`."""
    rows, d = centered.cpu().numpy(), centered.shape[1]
    covariance = LinearOperator((d, d), matvec=lambda v: rows.T @ (rows @ v), dtype=np.float64)
    return torch.from_numpy(eigsh(covariance, components, v0=np.ones(d))[1]).to(centered)


def vclub(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Variational upper bound vCLUB on I(z; u) over all pairs: mean_i log q(u_i|z_i) - mean_ij log q(u_j|z_i).

    logits (N, K) of q(.|z_i), labels (N,). Cheng et al., "CLUB: A Contrastive Log-ratio Upper Bound of Mutual
    Information", equation (15).
    """
    log_q = logits.log_softmax(dim=1)
    member = torch.nn.functional.one_hot(labels, logits.shape[1]).to(log_q)
    return (log_q * (member - member.mean(dim=0))).sum(dim=1).mean()


def jsd(positive_scores: torch.Tensor, negative_scores: torch.Tensor) -> torch.Tensor:
    """Jensen-Shannon estimator of mutual information: E[-sp(-T)] over joint pairs minus E[sp(T)] over product pairs.

    Nowozin, Cseke, Tomioka, "f-GAN"; Hjelm et al., "Learning deep representations by mutual information estimation
    and maximization", equation (4). TAPPFL's I_JSD.
    """
    return -softplus(-positive_scores).mean() - softplus(negative_scores).mean()


def _check(features: torch.Tensor, attribute: torch.Tensor, sigma: float, components: int | None) -> None:
    """Raise an InputError unless shapes and parameters are valid."""
    if features.ndim != 2 or attribute.shape != features.shape[:1] or len(features) == 0:
        shapes = f"{tuple(features.shape)} and {tuple(attribute.shape)}"
        raise InputError("gaussian_leakage.features", f"has the shape, and attribute, {shapes}", "(N, d) and (N,)")
    if not sigma > 0:
        raise InputError("gaussian_leakage.sigma", f"is {sigma}", "the noise's standard deviation is positive")
    if components is not None and components < 1:
        raise InputError("gaussian_leakage.components", f"is {components}", "at least 1, or none for all")
