"""dp: clip each gradient and add Gaussian noise, calibrated to (epsilon, delta) over the whole training.

A gradient longer than `clip` is scaled to it, and each coordinate gets noise N(0, sigma^2). What is protected is one
example's label: were it another, the example's clipped gradient would move by at most 2 clip each time it is sent,
which is once an epoch. sigma is the least for which that many Gaussian mechanisms of sensitivity 2 clip, composed, are
(epsilon, delta)-differentially private; Google's dp-accounting finds it. The batches are known to the feature party,
so sampling amplifies nothing.

The composition is adaptive: each gradient may depend on all that was sent before, as through the bottom model, which
learns from nothing else. It does not cover the label party's own layers: they train on the labels without noise, so
that a label also moves what is sent later for others. (epsilon, delta) bounds what an example's own gradients say of
its label to an adversary who knows those layers and everything else; it is not a theorem on the training as a whole.
Nor is the noise of floating-point numbers exactly Gaussian.

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
    """Gaussian noise for a stated privacy of each label."""

    about: ClassVar[str] = "label"
    limits: ClassVar[Limits] = {"epsilon": (1e-3, None), "delta": (1e-15, 0.5), "clip": (1e-12, None)}

    epsilon: float = 10.0
    delta: float = 1e-5
    clip: float = 0.1  # greatest norm of a gradient

    def begin(self, training: Training) -> float:
        """The noise's standard deviation."""
        return gaussian_deviation(self.epsilon, self.delta, training.num_releases, 2 * self.clip)

    def auc_bound(self, training: Training) -> float:
        """That of a row's own gradients in all epochs."""
        return gaussian_auc(self.epsilon, self.delta, training.num_releases)

    def backward(self, gradient: torch.Tensor, context: Context) -> torch.Tensor:
        """The gradients (B, d), clipped, with noise."""
        shrink = self.clip / gradient.norm(dim=1, keepdim=True).clamp_min(self.clip)
        return shrink * gradient + context.state * context.training.randn(*gradient.shape)
