"""marvell_shaped: adds the least Gaussian noise that bounds the leakage of all epochs, for any gradient distribution.

marvell's noise is optimal for isotropic gradients within each class, and for one release. Here all rows of a batch get
the same noise N(0, C), so that the noise itself reveals nothing, and the bound holds for the actual gradients: by
convexity the symmetric divergence of the two classes' released gradients is at most the mean, over pairs of a positive
and a negative, of that of two Gaussians at the pair's gradients,

    sumKL <= mean (g_i - g_j)^T C^-1 (g_i - g_j) = tr(C^-1 M),   M = S_0 + S_1 + D D^T,

S_0 and S_1 the classes' covariances, D the difference of their means. Of all C with tr(C^-1 M) <= t the one of least
power tr C is tr(M^1/2) M^1/2 / t (Lagrange). A row has one release an epoch and divergences add up, so that t is
`sum_kl` over the number of epochs: `sum_kl` bounds what a row's own gradients reveal of its class in the whole
training. As for dp, this is no theorem on the label party's own layers, which learn without noise; and pairs are those
of the same batch.

A single-class batch gets the noise for a second class of the opposite gradients. Ours, after Li et al., "Label Leakage
and Protection in Two-party Split Learning"; that Marvell does not stop label inference was said first by Liu et al.,
"Similarity-based Label Inference Attack against Training and Inference of Split Learning", 2203.05222. The nearest
published relative is ProjPert, see `proj_pert`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from cutlayer.core.limits import Limits
from cutlayer.games.split.defense import Context, Defense, Training
from cutlayer.theory.marvell import auc_bound


@dataclass(frozen=True)
class MarvellShaped(Defense):
    """Gaussian noise whose covariance is proportional to the square root of the pairs' second moments."""

    classes: ClassVar[set[int]] = {2}
    about: ClassVar[str] = "class"
    limits: ClassVar[Limits] = {"sum_kl": (1e-6, None)}

    sum_kl: float = 1.0  # of the whole training

    def auc_bound(self, training: Training) -> float:
        """Upper bound on the AUC from all gradients released for one row: that of `sum_kl`, by Pinsker.

        It is loose: of gradients that do not depend on earlier releases Phi(sqrt(sum_kl / 2)) is one, too.
        """
        return auc_bound(self.sum_kl)

    def backward(self, gradient: torch.Tensor, context: Context) -> torch.Tensor:
        """Gradients (B, d) with noise; without, if all of them are 0."""
        mixing, power = shape(pair_moment(gradient.double(), context.labels == 1))
        strength = (power * context.training.num_releases / self.sum_kl).sqrt()
        return gradient + context.training.randn(*gradient.shape) @ (strength * mixing).float().T


def pair_moment(gradient: torch.Tensor, positive: torch.Tensor) -> torch.Tensor:
    """Second moment M (d, d) of g_i - g_j over pairs of a positive and a negative of the gradients (B, d)."""
    if positive.all() or not positive.any():
        return 4 * gradient.T @ gradient / len(gradient)
    parts = gradient[positive], gradient[~positive]
    difference = parts[0].mean(dim=0) - parts[1].mean(dim=0)
    spread = [torch.cov(part.T, correction=0).reshape(2 * [gradient.shape[1]]) for part in parts]
    return spread[0] + spread[1] + torch.outer(difference, difference)


def shape(moment: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A factor R with R R^T = M^1/2, and p = tr M^1/2, of a positive semidefinite M (d, d) of any magnitude."""
    unit = moment.abs().max()
    values, axes = torch.linalg.eigh(moment / torch.where(unit > 0, unit, 1))
    lengths = (values.clamp_min(0) * unit).sqrt()
    return axes * lengths.sqrt(), lengths.sum()
