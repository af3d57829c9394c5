"""randomized_response: lie about each label once, before training, and correct the loss for the lies.

With k classes each training row's label is kept with probability e^epsilon / (e^epsilon + k - 1), else it becomes one
of the others, all equally likely (Warner's scheme). It is drawn once and for all, and everything that is sent depends
on the labels through what was drawn: epsilon bounds what all epochs together, and the trained model, say of a label.
Nothing wears off with the number of sendings, as noise on gradients does.

Correction `loss`: the target is the row of the inverse of the lies' transition matrix, so that the loss is, on average
over the lies, that of the true labels; some of its weights are negative. `prediction`: the model learns the labels as
drawn, and its probabilities go through the inverse when they are read. `none`: neither.

The bound is on what a row's own label adds. It does not keep an adversary from guessing by features what anyone who
knows the population could.

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
    """Labels with epsilon-differential privacy, drawn once a row."""

    about: ClassVar[str] = "label"
    limits: ClassVar[Limits] = {"epsilon": (1e-3, 700)}

    epsilon: float = 1.0
    correction: Literal["loss", "prediction", "none"] = "loss"

    def begin(self, training: Training) -> torch.Tensor:
        """(n,) int64: the labels as drawn."""
        kept, _ = chances(self.epsilon, training.classes)
        lies = training.rand(len(training.labels)) >= kept
        steps = 1 + (training.rand(len(training.labels)) * (training.classes - 1)).long()
        return (training.labels + lies * steps.clamp_max(training.classes - 1)) % training.classes

    def auc_bound(self, training: Training) -> float:
        """That of the label as drawn, whatever is sent of it."""
        return response_auc(self.epsilon, training.classes)

    def drawn(self, state: torch.Tensor, training: Training) -> torch.Tensor:
        """(n,): +-epsilon by the label as drawn; of k > 2 classes (n, k): epsilon for the one drawn, else 0."""
        odds = self.epsilon * one_hot(state, training.classes).float()
        return odds if training.classes > 2 else odds[:, 1] - odds[:, 0]

    def soft_labels(self, context: Context) -> torch.Tensor:
        """(B, k): 1 at the label as drawn, or the inverse's row, which adds up to 1 too."""
        target = one_hot(context.state[context.rows], context.training.outputs).float()
        if self.correction != "loss":
            return target
        kept, other = chances(self.epsilon, context.training.classes)
        return (target - other) / (kept - other)

    def to_class_probabilities(self, probabilities: np.ndarray, state: torch.Tensor) -> np.ndarray:
        """(N, k): the probabilities of the true labels where those of the labels as drawn were learned."""
        if self.correction != "prediction":
            return probabilities
        kept, other = chances(self.epsilon, probabilities.shape[1])
        found = np.maximum((probabilities - other) / (kept - other), 0)
        return np.asarray(found / found.sum(axis=1, keepdims=True))


def chances(epsilon: float, classes: int) -> tuple[float, float]:
    """How likely a label is kept, and how likely it becomes a certain other one."""
    other = math.exp(-epsilon) / (1 + (classes - 1) * math.exp(-epsilon))
    return 1 - (classes - 1) * other, other
