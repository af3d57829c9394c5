"""dp: clips each gradient and adds Gaussian noise, calibrated to (epsilon, delta) over the whole training.

A gradient whose norm exceeds `clip` is scaled to it, and each coordinate gets noise N(0, sigma^2). What is protected is
one example's label: with another label the example's clipped gradient differs by at most 2 clip in each release, one
an epoch. sigma is the least for which that many Gaussian mechanisms of sensitivity 2 clip, composed, are (epsilon,
delta)-differentially private; Google's dp-accounting finds it. The feature party knows the batches, so there is no
amplification by sampling.

The composition is adaptive: each gradient may depend on all earlier releases, as through the bottom model, which
learns from nothing else. It does not cover the label party's own layers: they train on the labels without noise, so
that a label also affects the later gradients of others. (epsilon, delta) bounds what an example's own gradients reveal
of its label to an adversary who knows those layers and everything else; it is not a theorem on the training as a
whole. Nor is the noise of floating-point numbers exactly Gaussian.

Abadi et al., "Deep Learning with Differential Privacy"; Balle and Wang, "Improving the Gaussian Mechanism for
Differential Privacy". Jiang et al., "Training on Fake Labels", name it as a baseline and give no parameter: those
here are this project's choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from cutlayer.core.limits import Limits
from cutlayer.games.split.defense import Context, Defense, Training
from cutlayer.theory.accounting import gaussian_auc, gaussian_deviation


@dataclass(frozen=True)
class DP(Defense):
    """Gaussian mechanism on clipped gradients, with label-level (epsilon, delta)-differential privacy."""

    about: ClassVar[str] = "label"
    limits: ClassVar[Limits] = {"epsilon": (1e-3, None), "delta": (1e-15, 0.5), "clip": (1e-12, None)}

    epsilon: float = 10.0
    delta: float = 1e-5
    clip: float = 0.1  # greatest norm of a gradient

    def begin(self, training: Training) -> float:
        """Standard deviation of the noise."""
        return gaussian_deviation(self.epsilon, self.delta, training.num_releases, 2 * self.clip)

    def auc_bound(self, training: Training) -> float:
        """Upper bound on the AUC from all gradients released for one row."""
        return gaussian_auc(self.epsilon, self.delta, training.num_releases)

    def backward(self, gradient: torch.Tensor, context: Context) -> torch.Tensor:
        """Clipped gradients (B, d) with noise."""
        mean, deviation = self.gaussian(gradient, context)
        return mean + deviation * context.training.randn(*gradient.shape)

    def gaussian(self, gradient: torch.Tensor, context: Context) -> tuple[torch.Tensor, float]:
        """Clipped gradients (B, d), and the standard deviation of the noise."""
        shrink = self.clip / gradient.norm(dim=1, keepdim=True).clamp_min(self.clip)
        return shrink * gradient, context.state
