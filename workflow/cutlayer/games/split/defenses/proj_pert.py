"""proj_pert: adds Gaussian noise, coordinate by coordinate, that makes the two classes' variances in it more alike.

In each batch and each of the d coordinates the classes' gradients are taken as normal, with the means' difference D
and variances v0 and v1. A budget sumKL = t allows t / d in each. Forms:

- `iso`: the variance that bounds equal classes is s = D^2 d / t; each class gets max(s - v, 0). A class with v > s
  stays above the other, so that this form has no bound.
- `evened`, ours: s is the largest of D^2 d / t, v0 and v1, so that both classes end at s.
- `projected`: the variances b >= v0 and a >= v1 of least power p a + (1 - p) b, p the share of positives, whose sumKL
  is at most t / d, as marvell's theorem has it in one dimension, see `gradient_noise`.

A single-class batch gets marvell's noise for such a batch. The bound of the last two composes over the epochs of a row,
sumKL = E t, where rows are normal with independent coordinates: what is off the diagonal of the covariance is
ignored, and `off_axis` tests that.

The published relative of `marvell_shaped`: "ProjPert: Projection-Based Perturbation for Label Protection in Split
Learning Based Vertical Federated Learning", IEEE TKDE 2024; its text could not be read, `iso` and `projected` are those
of the code in Elastic-Federated-Learning-Solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch

from cutlayer.core.limits import Limits
from cutlayer.games.split.defense import Context, Defense, Training
from cutlayer.gradient_noise import optimal_noise, power_for
from cutlayer.theory.marvell import composed_auc

from ._gaussians import mean_square


@dataclass(frozen=True)
class ProjPert(Defense):
    """Gaussian noise of one variance for each class and coordinate."""

    classes: ClassVar[set[int]] = {2}
    about: ClassVar[str] = "class"
    limits: ClassVar[Limits] = {"sum_kl": (1e-6, None)}

    sum_kl: float = 1.0  # t, of one release
    form: Literal["iso", "evened", "projected"] = "projected"

    def auc_bound(self, training: Training) -> float | None:
        """Upper bound on the AUC from a row's releases, for normal gradients of independent coordinates."""
        return None if self.form == "iso" else composed_auc(self.sum_kl, training.num_releases)

    def backward(self, gradient: torch.Tensor, context: Context) -> torch.Tensor:
        """Gradients (B, d) with noise."""
        positive = context.labels == 1
        if positive.all() or not positive.any():
            added = torch.full_like(gradient, mean_square(gradient) / self.sum_kl)
        else:
            negatives, positives = self._noise(gradient.double(), positive)
            added = torch.where(positive[:, None], positives, negatives).float()
        return gradient + added.sqrt() * context.training.randn(*gradient.shape)

    def _noise(self, gradient: torch.Tensor, positive: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Variances (d,) of the noise of negatives and positives."""
        own = [gradient[~positive], gradient[positive]]
        v0, v1 = (part.var(dim=0, correction=0) for part in own)
        gap = (own[1].mean(dim=0) - own[0].mean(dim=0)).square()
        if self.form == "projected":
            share, target = float(positive.double().mean()), self.sum_kl / len(gap)
            problems = torch.stack((v0, v1, gap), dim=1).tolist()
            found = torch.tensor([_cheapest(u, v, g, share, target) for u, v, g in problems], dtype=torch.float64)
            return found[:, 0].to(gradient.device), found[:, 1].to(gradient.device)
        wanted = gap * len(gap) / self.sum_kl
        if self.form == "evened":
            wanted = torch.maximum(wanted, torch.maximum(v0, v1))
        return (wanted - v0).clamp_min(0), (wanted - v1).clamp_min(0)


def _cheapest(v0: float, v1: float, gap: float, share: float, target: float) -> tuple[float, float]:
    """The noise of least power on negatives and positives that brings a coordinate's sumKL to the target."""
    problem = v0, v1, 1, gap, share
    noise = optimal_noise(*problem, power_for(*problem, target))
    return noise.negative_along, noise.positive_along
