"""tpsl: adds Laplace noise to the label at every release, so that the transcript is differentially private.

With two classes the label y becomes y + L, L ~ Lap(1 / epsilon), and the batch is trained on the weights (1 - y - L,
y + L). As the gradient is linear in the label, that is noise along the difference of the two gradients that a row would
have with either label. With k > 2 classes the one-hot label gets L - mean L, L_c ~ Lap(2 / epsilon). Noise is drawn
anew at every release, and the label party's own layers learn from the noisy labels alone.

What is released depends on a label through its noisy values, so that the bound is that of the composed Laplace
mechanism: the AUC of the sum of E clipped log-ratios, and of 2 E at half the epsilon for two of k > 2 classes, which
differ in two coordinates. One release has at most 1 - e^-epsilon (2 + epsilon) / 4; the mean of E has, by its variance,
about Phi(epsilon sqrt(E) / 2). It is about a row's own label: what the features say of it is not covered.

The codes part from this: EFLS scales the difference of the batch's class means, VFLAIR does not center and so adds
a multiple of p as well. Label noise as here is what makes the accounting a proof.

Yang, Sun, Yao, Xie, Wang, "Differentially Private Label Protection in Split Learning"; its text could not be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from cutlayer.core.limits import Limits
from cutlayer.games.split.defense import Context, Defense, Training
from cutlayer.theory.accounting import laplace_releases_auc


@dataclass(frozen=True)
class TPSL(Defense):
    """Laplace noise on the label, with label-level epsilon-differential privacy of each release."""

    about: ClassVar[str] = "label"
    limits: ClassVar[Limits] = {"epsilon": (1e-3, 700)}

    epsilon: float = 1.0  # of one release

    def auc_bound(self, training: Training) -> float:
        """Upper bound on the AUC from all noisy values of one row's label."""
        differing = 1 if training.classes == 2 else 2  # coordinates
        return laplace_releases_auc(differing / self.epsilon, differing * training.num_releases)

    def soft_labels(self, context: Context) -> torch.Tensor:
        """Weights (B, k) that sum to 1, of any sign: the one-hot label plus the noise."""
        exact, classes = super().soft_labels(context), context.training.classes
        if classes == 2:
            noise = self._laplace(1, context) / self.epsilon
            return exact + torch.cat([-noise, noise], dim=1)
        noise = 2 / self.epsilon * self._laplace(classes, context)
        return exact + (noise - noise.mean(dim=1, keepdim=True))

    def _laplace(self, columns: int, context: Context) -> torch.Tensor:
        """Standard Laplace noise (B, columns): the difference of two exponential variables."""
        first, second = -torch.log1p(-context.training.rand(2, len(context.rows), columns))
        return first - second
