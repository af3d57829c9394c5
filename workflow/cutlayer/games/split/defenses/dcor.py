"""dcor: penalizes the distance correlation between the embeddings of a batch and its labels.

The loss gets `weight` times log dCor(h, y), y one-hot. With A and B the doubly centered pairwise distances of h and of
y, dCor^2 = mean(A o B) / sqrt(mean(A o A) mean(B o B)). Without `log` the penalty is dCor^2, as in the code of sfl. A
batch of one class has no penalty. Of few rows dCor is biased upwards.

It defends embeddings alone: all gradient attacks are adaptive adversaries of it, for its own gradient depends on the
labels too. The other one extends the embeddings by noise, so that few of the distances are theirs (`feature_party`).

Sun, Yang, Yao, Wang, "Label Leakage and Protection from Forward Embedding in Vertical Federated Learning", of which
only the abstract was read; Vepakomma et al., "NoPeek", have the same of features and embeddings; Székely, Rizzo,
Bakirov, "Measuring and Testing Dependence by Correlation of Distances".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch.nn.functional import one_hot

from cutlayer.core.limits import Limits
from cutlayer.games.split.defense import Context, Defense

from ._distances import distances

TINY = 1e-12  # of a covariance of distances; embeddings that are all alike have nearly no correlation, and no gradient


@dataclass(frozen=True)
class DCor(Defense):
    """Distance correlation of embeddings and labels as a penalty."""

    limits: ClassVar[Limits] = {"weight": (0, None)}

    weight: float = 0.1  # alpha
    log: bool = True

    def penalty(self, sent: torch.Tensor, logits: torch.Tensor, context: Context) -> torch.Tensor | None:
        """The weighted distance correlation, or its logarithm; None for a batch of one class."""
        labels = context.labels
        if bool((labels == labels[0]).all()):
            return None
        square = squared_correlation(sent, one_hot(labels, context.training.classes).float())
        return self.weight * (square.log() / 2 if self.log else square)


def squared_correlation(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Squared distance correlation, from 0 to 1, of paired rows (B, d) and (B, e)."""
    a, b = _centered(distances(first)), _centered(distances(second))
    both, own, other = ((x * y).mean() + TINY for x, y in ((a, b), (a, a), (b, b)))
    return both / (own * other).sqrt()


def _centered(of: torch.Tensor) -> torch.Tensor:
    return of - of.mean(dim=0) - of.mean(dim=1, keepdim=True) + of.mean()
