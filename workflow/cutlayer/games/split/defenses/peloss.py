"""peloss: potential energy loss; the embeddings of one class repel each other, so that few labels reveal little.

The loss gets `weight` times the sum over classes c of (1 / n_c) sum 1 / |h_i - h_j| over the ordered pairs of the
batch's n_c rows of c. Pushed apart, the rows of a class lie near the boundary to the others, so that a few known ones
do not place it. The sum grows with n_c: a weight of 2, the code's, ends short trainings before they have learned.

As in the code of sfl, but for its 1e-6, which it adds to the reciprocal, so that equal rows have infinite energy; here
|.| is sqrt(|.|^2 + 1e-6). Its angular form is left out; it is off in the code.

It defends embeddings alone: all gradient attacks are adaptive adversaries of it. The other one extends the embeddings
by noise, so that rows are far apart whatever they leak (`feature_party`).

Zheng, Chen, Lyu, Fu, Fu, Wang, Zheng, Yin, "Protecting Split Learning by Potential Energy Loss", of which only the
abstract was read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from cutlayer.core.limits import Limits
from cutlayer.games.split.defense import Context, Defense

from ._distances import distances

SOFT = 1e-6  # squared distance that is added


@dataclass(frozen=True)
class PELoss(Defense):
    """The potential energy of embeddings of one class as a penalty."""

    limits: ClassVar[Limits] = {"weight": (0, None)}

    weight: float = 0.001  # alpha

    def penalty(self, sent: Tensor, logits: Tensor, context: Context) -> Tensor:
        """The weighted energy of the batch."""
        return self.weight * energy(sent, context.labels)


def energy(embeddings: Tensor, labels: Tensor) -> Tensor:
    """Potential energy of embeddings (B, d) of the labels (B,): per class the sum over pairs, over the class's size."""
    alike = labels[:, None] == labels
    pairs = alike.float().fill_diagonal_(0) / alike.sum(dim=1)
    return (pairs * (distances(embeddings).square() + SOFT).rsqrt()).sum()
