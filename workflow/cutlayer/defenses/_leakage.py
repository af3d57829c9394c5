"""L_p from batches: the moments of the attribute's classes over many, on the features' principal axes.

A batch is too small to know L_p: of A classes with equal moments, N rows show about (A - 1) (k + k (k + 1) / 2) / N
on k axes, 0.05 for two classes, four axes and 256 rows, where a threshold is 0.005. So the classes' counts, sums and
products are summed over batches, each batch `decay` times as heavy as the next, and L_p is that of these moments. Its
gradient takes them as they are and goes through the rows of the current batch alone (straight-through), as if all
rows moved with these.

The axes are those of a running covariance and never differentiated. New ones are taken every `refresh` steps, and are
used `refresh` steps later, when enough batches have been seen on them.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", equation (3) and 5.1; Levy and
Lindenbaum, "Sequential Karhunen-Loeve basis extraction", for the covariance of wide features.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import torch

RANK = 64  # of what is kept of the running covariance: all of it for features no wider
AGED = 0.5  # the weight of the running covariance against that of the batch it is renewed with


class Divergence(NamedTuple):
    """L_p of one Gaussian for each class, and its derivatives."""

    value: float
    by_means: np.ndarray  # (A, k)
    by_covariances: np.ndarray  # (A, k, k)


def divergence(shares: np.ndarray, means: np.ndarray, covariances: np.ndarray) -> Divergence:
    """Sum over a != b of p_a p_b KL(N_a || N_b): shares (A,) that sum to 1, means (A, k), covariances (A, k, k).

    The sum over pairs is one over classes: with m and T the mean and the covariance of all,
    (sum_a p_a (tr(S_a^-1 T) + |m_a - m|^2 in the metric S_a^-1) - k) / 2.
    """
    weights = shares[:, None, None]
    precisions = np.linalg.inv(covariances)
    gaps = means - shares @ means
    outer = gaps[:, :, None] * gaps[:, None, :]
    around = (weights * (covariances + outer)).sum(axis=0) + outer  # (A, k, k): of all rows about a class's mean
    value = (float((weights * precisions * around).sum()) - means.shape[1]) / 2
    mean_precision = (weights * precisions).sum(axis=0)
    pulls = shares[:, None] * ((precisions + mean_precision) @ gaps[:, :, None])[:, :, 0]
    by_covariances = weights / 2 * (mean_precision - precisions @ around @ precisions)
    return Divergence(max(0.0, value), pulls - shares[:, None] * pulls.sum(axis=0), by_covariances)


class Moments:
    """Decayed sums over batches, on some axes."""

    def __init__(self, axes: torch.Tensor, values: int) -> None:
        self.axes = axes  # (d, k) float64
        self.batches = 0.0
        k = axes.shape[1]
        self._sums = np.zeros((values, 1 + k + k * k))  # of 1, of the projected rows, of their products

    def add(self, z: np.ndarray, member: np.ndarray, decay: float) -> None:
        """A batch of projected rows (B, k), of the classes that `member` (B, A) has a 1 for."""
        products = (z[:, :, None] * z[:, None, :]).reshape(len(z), -1)
        terms = np.concatenate((np.ones((len(z), 1)), z, products), axis=1)
        self._sums = decay * self._sums + member.T @ terms
        self.batches = decay * self.batches + 1

    def leakage(self, z: np.ndarray, place: np.ndarray, sigma: float) -> tuple[float, np.ndarray]:
        """L_p, and its derivative with respect to the last batch (B, k) of classes `place` (B,).

        A class that is absent has the share 0, and counts for nothing.
        """
        values, k = len(self._sums), z.shape[1]
        counts = self._sums[:, 0]
        each = np.where(counts > 0, counts, 1)[:, None]
        means = self._sums[:, 1 : k + 1] / each
        squares = (self._sums[:, k + 1 :] / each).reshape(values, k, k)
        covariances = squares - means[:, :, None] * means[:, None, :] + sigma**2 * np.eye(k)
        found = divergence(counts / counts.sum(), means, covariances)

        # A row's share in its class is that of the class in an average batch: with it, rare classes are not noisier.
        slopes = 2 * self.batches / each[:, :, None] * found.by_covariances
        offsets = self.batches / each * found.by_means - (slopes @ means[:, :, None])[:, :, 0]
        of_all = (z @ slopes.transpose(1, 0, 2).reshape(k, -1)).reshape(len(z), values, k)
        return found.value, of_all[np.arange(len(z)), place] + offsets[place]


class Leakage:
    """L_p over the steps of a training."""

    def __init__(self, values: int, sigma: float, components: int, decay: float, refresh: int) -> None:
        self.sigma, self.components, self.decay, self.refresh = sigma, components, decay, refresh
        self.trace: list[float] = []  # of every batch
        self._member = np.eye(values)
        self._sketch: torch.Tensor | None = None  # (RANK, d): its product with itself is the running covariance
        self.restart()

    def restart(self) -> None:
        """Forget the moments, and take new axes from the next batch."""
        self._moments: list[Moments] = []  # in use; to come
        self._steps = 0

    def __call__(self, features: torch.Tensor, attribute: torch.Tensor) -> tuple[float, torch.Tensor]:
        """(L_p, a scalar whose gradient is L_p's) with a batch of features (B, ...) and their attribute (B,)."""
        import torch

        rows = features.flatten(1).double()
        if self._steps % self.refresh == 0:
            self._moments = [*self._moments[-1:], Moments(self._principal(rows.detach()), len(self._member))]
        self._steps += 1
        place = attribute.cpu().numpy()
        projected = rows @ self._moments[0].axes
        seen = [projected.detach(), *(rows.detach() @ other.axes for other in self._moments[1:])]
        for moments, z in zip(self._moments, seen, strict=True):
            moments.add(z.cpu().numpy(), self._member[place], self.decay)
        value, slope = self._moments[0].leakage(seen[0].cpu().numpy(), place, self.sigma)
        self.trace.append(value)
        return value, (projected * torch.from_numpy(slope).to(projected.device)).sum()

    def _principal(self, rows: torch.Tensor) -> torch.Tensor:
        """(d, components): the leading axes of the running covariance, once these rows (B, d) are in it."""
        import torch

        known = (rows - rows.mean(dim=0)) / math.sqrt(len(rows))
        if self._sketch is not None:
            known = torch.cat((math.sqrt(AGED) * self._sketch, math.sqrt(1 - AGED) * known))
        _, sizes, axes = torch.linalg.svd(known, full_matrices=False)
        self._sketch = sizes[:RANK, None] * axes[:RANK]
        return axes[: self.components].T.contiguous()
