"""marvell: adds the Gaussian noise that, at a given power, makes the gradients of two classes least distinguishable.

In each batch the gradients of negatives and positives are modeled as N(g0, u I) and N(g1, v I): class means, and
variances averaged over coordinates. Each class gets noise of one variance along the difference of the means and
another across it; of all with p tr Sigma1 + (1 - p) tr Sigma0 <= P, p the batch's fraction of positives, these are
the ones of least symmetric divergence sumKL (theorem 1), see `gradient_noise`. One of three parameters sets the power:

- `power`: P relative to the squared distance of the means (to the mean squared gradient, should the means be equal);
- `sum_kl`: the smallest P whose sumKL is at most this; where that holds already, nothing is added;
- `error`: a bound L on an adversary's error, through the target sumKL = (2 - 4 L)^2.

In a single-class batch the class-mean difference is undefined. Such a batch gets isotropic noise, as if the other
class's mean were a root mean square gradient away, in an unknown direction, and neither class had variance: of `power`
times the mean squared gradient in all, or with the variance mean squared gradient / target in each coordinate. So it
is never released without noise, unless all its gradients are 0.

Ours: `across: larger` gives both classes the larger of the two variances across. The optimum gives one class none, so
that a gradient's norm off the axis reveals its class where real gradients are not isotropic (`off_axis`). The noise
along the axis, nearly all of the power, is unchanged. The target is no bound then, so that there is no guarantee.

Li et al., "Label Leakage and Protection in Two-party Split Learning", 4.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch

from cutlayer.core.errors import InputError
from cutlayer.core.limits import Limits
from cutlayer.games.split.defense import Context, Defense, Training
from cutlayer.gradient_noise import GradientNoise, optimal_noise, power_for
from cutlayer.theory.marvell import composed_auc

from ._gaussians import Gaussians, estimated, mean_square, perturbed


@dataclass(frozen=True)
class Marvell(Defense):
    """Optimal Gaussian noise for a power, a target sumKL, or a bound on the adversary's error; exactly one is set."""

    classes: ClassVar[set[int]] = {2}
    about: ClassVar[str] = "class"
    limits: ClassVar[Limits] = {"power": (0, None), "sum_kl": (0, None), "error": (0, 0.4999)}

    power: float = 0.0
    sum_kl: float = 0.0
    error: float = 0.0
    across: Literal["optimal", "larger"] = "optimal"

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in self.limits if getattr(self, name)}
        if len(given) != 1:
            wrong = " and ".join(f"{name} = {value}" for name, value in given.items()) or "no parameter is given"
            raise InputError("defense.marvell", wrong, "expected exactly one of power, sum_kl, error")

    @property
    def _wanted(self) -> float:
        """The target sumKL; 0 if the power is given."""
        return (2 - 4 * self.error) ** 2 if self.error else self.sum_kl

    def begin(self, training: Training) -> torch.Tensor:
        """Class membership (2, n) of the training rows: 1 where a row is of the class, else 0."""
        return torch.stack((training.labels != 1, training.labels == 1)).float()

    def auc_bound(self, training: Training) -> float | None:
        """Upper bound on the AUC from a row's releases by composition of the target sumKL, for Gaussian gradients."""
        bounded = self._wanted and self.across == "optimal"
        return composed_auc(self._wanted, training.num_releases) if bounded else None

    def backward(self, gradient: torch.Tensor, context: Context) -> torch.Tensor:
        """Gradients (B, d) with noise."""
        member = context.state[:, context.rows]
        model = estimated(gradient, member)
        if model is None:
            return self._of_one_class(gradient, context.training)
        return perturbed(gradient, member, model, self._noise(gradient, model), context.training)

    def _noise(self, gradient: torch.Tensor, model: Gaussians) -> GradientNoise:
        problem = model.negative, model.positive, gradient.shape[1], model.gap, model.share
        given = self.power * (model.gap or mean_square(gradient))
        noise = optimal_noise(*problem, power_for(*problem, self._wanted) if self._wanted else given)
        if self.across == "optimal":
            return noise
        both = max(noise.negative_across, noise.positive_across)
        return noise._replace(negative_across=both, positive_across=both)

    def _of_one_class(self, gradient: torch.Tensor, training: Training) -> torch.Tensor:
        variance = mean_square(gradient) * (1 / self._wanted if self._wanted else self.power / gradient.shape[1])
        return gradient + math.sqrt(variance) * training.randn(*gradient.shape)
