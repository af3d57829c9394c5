"""randomized_response: flips each label at random once, before training, and corrects the loss for the label noise.

With k classes each training row's label is kept with probability e^epsilon / (e^epsilon + k - 1), else it becomes one
of the others, all equally likely (Warner's scheme). It is drawn once for the whole training, and all that is released
depends on the labels through the noisy labels: epsilon bounds what all epochs together, and the trained model, reveal
of a label. The guarantee does not degrade with the number of releases, as that of noise on gradients does.

Correction `loss`: the soft label is the row of the inverse of the transition matrix, so that the loss is, in
expectation over the label noise, that of the true labels; some of its weights are negative. `prediction`: the model
learns the noisy labels, and its predicted probabilities are multiplied by the inverse. `none`: neither.

The bound is on what a row's own label adds. It does not keep an adversary from inferring from the features what
anyone who knows the population could.

Warner, "Randomized Response"; Ghazi, Golowich, Kumar, Manurangsi, Zhang, "Deep Learning with Label Differential
Privacy"; the correction of the loss is that of Patrini, Rozza, Menon, Nock, Qu, "Making Deep Neural Networks Robust to
Label Noise", theorem 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from torch.nn.functional import one_hot

from cutlayer.core.limits import Limits
from cutlayer.games.split.defense import Context, Defense, Training
from cutlayer.theory.accounting import response_auc


@dataclass(frozen=True)
class RandomizedResponse(Defense):
    """Randomized response: labels with epsilon-differential privacy, drawn once per row."""

    about: ClassVar[str] = "label"
    limits: ClassVar[Limits] = {"epsilon": (1e-3, 700)}

    epsilon: float = 1.0
    correction: Literal["loss", "prediction", "none"] = "loss"

    def begin(self, training: Training) -> torch.Tensor:
        """The noisy labels (n,) int64."""
        kept, _ = chances(self.epsilon, training.classes)
        lies = training.rand(len(training.labels)) >= kept
        steps = 1 + (training.rand(len(training.labels)) * (training.classes - 1)).long()
        return (training.labels + lies * steps.clamp_max(training.classes - 1)) % training.classes

    def auc_bound(self, training: Training) -> float:
        """Upper bound on the AUC from the noisy label, on which all that is released for the row depends."""
        return response_auc(self.epsilon, training.classes)

    def drawn(self, state: torch.Tensor, training: Training) -> torch.Tensor:
        """Log-odds (n,) of the noisy label, +-epsilon; of k > 2 classes (n, k): epsilon for the one drawn, else 0."""
        odds = self.epsilon * one_hot(state, training.classes).float()
        return odds if training.classes > 2 else odds[:, 1] - odds[:, 0]

    def soft_labels(self, context: Context) -> torch.Tensor:
        """Soft labels (B, k): 1 at the noisy label, or its row of the inverse transition matrix (it sums to 1 too)."""
        target = one_hot(context.state[context.rows], context.training.outputs).float()
        if self.correction != "loss":
            return target
        kept, other = chances(self.epsilon, context.training.classes)
        return (target - other) / (kept - other)

    def to_class_probabilities(self, probabilities: np.ndarray, state: torch.Tensor) -> np.ndarray:
        """Probabilities (N, k) of the true labels, from those of the noisy labels if the model learned these."""
        if self.correction != "prediction":
            return probabilities
        kept, other = chances(self.epsilon, probabilities.shape[1])
        found = np.maximum((probabilities - other) / (kept - other), 0)
        return np.asarray(found / found.sum(axis=1, keepdims=True))


def chances(epsilon: float, classes: int) -> tuple[float, float]:
    """Probabilities that a label is kept, and that it becomes a given other one."""
    other = math.exp(-epsilon) / (1 + (classes - 1) * math.exp(-epsilon))
    return 1 - (classes - 1) * other, other
