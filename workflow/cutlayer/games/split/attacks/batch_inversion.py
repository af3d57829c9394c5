"""batch_inversion: recovers the gradients of a batch's rows from their sum over the batch at the last bottom layer.

Where what crosses the cut is encrypted, the feature party sees the gradient of its own weights alone: M, the mean over
the rows of g_i (a_i, 1)^T, with a_i (q,) what enters its last layer and g_i (d,) the row's gradient behind the ReLU.
`exact` solves that for the g_i (least norm): they are the rows' own if all (a_i, 1) are linearly independent, which
takes q + 1 >= B; else a projection of them. `optimized` is, with a linear top model, what VFLAIR's code does: it, a
label for each row, and what the label party adds to its logits are fitted to M. Both score rows along the first
principal axis, towards the rarer class, as `first_axis`. For two classes: which of several is which no batch says
without known rows.

VFLAIR's code takes the better of two runs by the true labels, an oracle. Passive, with its own embeddings.

Zou et al., "Defending Batch-Level Label Inference and Replacement Attacks in Vertical Federated Learning", 2112.05409;
its text could not be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import nn

from cutlayer.core.descent import descend
from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.split.attack import Attack

from ._principal import skewed

ROUNDED = 1e-6  # singular values below this share of the largest are rounding


@dataclass(frozen=True)
class BatchInversion(Attack):
    """Scores the rows of a batch by the gradients recovered from their sum."""

    sees: ClassVar[set[str]] = {"last_inputs", "last_gradient", "embeddings"}
    classes: ClassVar[set[int]] = {2}
    limits: ClassVar[Limits] = {"steps": (1, None), "rate": (0, None)}

    form: Literal["exact", "optimized"] = "exact"
    steps: int = 1000
    rate: float = 0.05

    def skip(self, view: View) -> str:
        """Needs a setup that records what enters the last layer."""
        return "" if "last_inputs" in view else "for setups that record the last layer, here none is recorded"

    def infer(self, view: View) -> np.ndarray:
        """Scores (B,) of the examples."""
        if self.form == "exact":
            return skewed(recovered(view.last_inputs, view.last_gradient))
        return skewed(self._fitted(view))

    def _fitted(self, view: View) -> np.ndarray:
        """Gradients (B, d) of the rows under the labels, logits and linear top model that fit the sum best."""
        count, width = len(view.last_inputs), len(view.last_gradient)
        arrays = _with_ones(view.last_inputs), np.array(view.last_gradient), np.array(view.embeddings[:, :width])
        a, mean, h = (torch.as_tensor(array, dtype=torch.float32, device=view.device) for array in arrays)
        shapes = (count, 2), (count, 2), (width, 2)
        free = [nn.Parameter(torch.from_numpy(view.rng.normal(0, 0.1, shape)).to(a)) for shape in shapes]
        labels, added, top = free
        adam, size = torch.optim.Adam(free, self.rate, fused=True), mean.square().sum().clamp_min(1e-30)
        for _ in range(self.steps):
            rows = ((h @ top + added).softmax(dim=1) - labels.softmax(dim=1)) @ top.T
            descend(adam, ((rows * (h > 0)).T @ a / count - mean).square().sum() / size)
        return np.asarray(rows.detach().cpu().numpy())


def recovered(inputs: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Gradients (B, d) of least norm whose mean product with the inputs (B, q) and 1 is the gradient (d, q + 1)."""
    return np.asarray((len(inputs) * gradient.astype(np.float64) @ np.linalg.pinv(_with_ones(inputs), ROUNDED)).T)


def _with_ones(inputs: np.ndarray) -> np.ndarray:
    return np.hstack([inputs.astype(np.float64), np.ones((len(inputs), 1))])
