"""soft_labels: trains on smoothed labels, as a control: the class keeps most of the weight, others share the rest.

The label's class has the weight 1 - `smoothing`; `partners` other classes, drawn once for each row, share `smoothing`
equally. 0: all others do (label smoothing). The gradient is p - t for each row, and smoothing moves the targets t of
all rows of a class alike, so that its sign and the clusters of classes stay: there is no bound. With two classes and
a `smoothing` above 1/2 the classes are swapped, which hides nothing.

The form of KDk (Arazzi, Nicolazzo, Nocera, "KDk: A Defense Mechanism Against Label Inference Attacks in Vertical
Federated Learning"), whose partners a teacher finds on the label party's own features; here they are random. Smoothing
is that of Szegedy et al., "Rethinking the Inception Architecture for Computer Vision".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch.nn.functional import one_hot

from cutlayer.core.limits import Limits
from cutlayer.games.split.defense import Context, Defense, Training


@dataclass(frozen=True)
class SoftLabels(Defense):
    """Label smoothing, over all other classes or over a few for each row."""

    limits: ClassVar[Limits] = {"smoothing": (0, 1), "partners": (0, None)}

    smoothing: float = 0.3
    partners: int = 0  # of a row; 0: all other classes

    def begin(self, training: Training) -> torch.Tensor:
        """The soft label (n, k) of each training row."""
        own = one_hot(training.labels, training.classes).float()
        others = training.classes - 1
        count = min(self.partners or others, others)
        order = (training.rand(*own.shape) - 2 * own).argsort(dim=1, descending=True)  # the row's own class comes last
        chosen = torch.zeros_like(own).scatter_(1, order[:, :count], 1 / count)
        return torch.lerp(own, chosen, self.smoothing)

    def soft_labels(self, context: Context) -> torch.Tensor:
        """Soft labels (B, k), the same in every epoch."""
        return context.state[context.rows]
