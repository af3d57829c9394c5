"""L_p from batches: the moments of the attribute's classes over many, on the features' principal axes.

A batch is too small to know L_p: of A classes with equal moments, N rows show about (A - 1) (k + k (k + 1) / 2) / N
on k axes, 0.05 for two classes, four axes and 256 rows, where a threshold is 0.005. So the classes' counts, sums and
products are summed over batches, each batch `decay` times as heavy as the next, and L_p is that of these moments. Its
gradient takes them as they are and goes through the rows of the current batch alone (straight-through), as if all
rows moved with these.

The axes are those of the moments' covariance, taken anew every `refresh` steps and never differentiated. Were they
renewed seldom, an encoder would learn to leak on others. Features wider than RANK are first brought to so many
coordinates by a basis of their running covariance, which changes every RENEWAL steps; the moments on a basis are
collected for that long before it is used.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", equation (3) and 5.1; Levy and
Lindenbaum, "Sequential Karhunen-Loeve basis extraction", for the covariance of wide features.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import torch

RANK = 64  # coordinates whose products are kept
RENEWAL = 100  # steps
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
    """Decayed sums over batches of m coordinates, for each class."""

    def __init__(self, values: int, m: int, decay: float) -> None:
        self.decay, self.batches = decay, 0.0
        self.counts, self.sums, self.products = np.zeros(values), np.zeros((values, m)), np.zeros((values, m, m))

    def add(self, y: np.ndarray, place: np.ndarray) -> None:
        """A batch (B, m) of the classes `place` (B,)."""
        for sums in (self.counts, self.sums, self.products):
            sums *= self.decay
        self.batches = self.decay * self.batches + 1
        for value in np.unique(place):
            rows = y[place == value]
            self.counts[value] += len(rows)
            self.sums[value] += rows.sum(axis=0)
            self.products[value] += rows.T @ rows

    def axes(self, components: int) -> np.ndarray:
        """(m, components): the leading axes of the covariance of all."""
        mean = self.sums.sum(axis=0) / self.counts.sum()
        covariance = self.products.sum(axis=0) / self.counts.sum() - np.outer(mean, mean)
        return np.linalg.eigh(covariance)[1][:, -components:]

    def leakage(self, y: np.ndarray, place: np.ndarray, axes: np.ndarray, sigma: float) -> tuple[float, np.ndarray]:
        """L_p on some axes (m, k), and its derivative with respect to the last batch on them (B, k).

        A class that is absent has the share 0, and counts for nothing.
        """
        each, k = np.where(self.counts > 0, self.counts, 1)[:, None], axes.shape[1]
        means = self.sums @ axes / each
        squares = axes.T @ self.products @ axes / each[:, :, None]
        covariances = squares - means[:, :, None] * means[:, None, :] + sigma**2 * np.eye(k)
        found = divergence(self.counts / self.counts.sum(), means, covariances)

        # A row's share in its class is that of the class in an average batch: with it, rare classes are not noisier.
        slopes = 2 * self.batches / each[:, :, None] * found.by_covariances
        offsets = self.batches / each * found.by_means - (slopes @ means[:, :, None])[:, :, 0]
        of_all = (y @ axes @ slopes.transpose(1, 0, 2).reshape(k, -1)).reshape(len(y), -1, k)
        return found.value, of_all[np.arange(len(y)), place] + offsets[place]


class Basis(NamedTuple):
    """Coordinates of the features, and the moments on them."""

    turn: torch.Tensor | None  # (d, RANK) float64; None: the features' own
    moments: Moments


class Leakage:
    """L_p over the steps of a training."""

    def __init__(self, values: int, sigma: float, components: int, decay: float, refresh: int) -> None:
        self.values, self.sigma, self.components, self.decay, self.refresh = values, sigma, components, decay, refresh
        self.trace: list[float] = []  # of every batch
        self._sketch: torch.Tensor | None = None  # (RANK, d): its product with itself is the running covariance
        self.restart()

    def restart(self) -> None:
        """Forget the moments."""
        self._bases: list[Basis] = []  # in use; to come
        self._axes = np.zeros((0, 0))
        self._steps = 0

    def __call__(self, features: torch.Tensor, attribute: torch.Tensor) -> tuple[float, torch.Tensor]:
        """(L_p, a scalar whose gradient is L_p's) with a batch of features (B, ...) and their attribute (B,)."""
        import torch

        live = features.flatten(1)
        rows, place = live.detach().double(), attribute.cpu().numpy()
        renewed = self._renewed(rows)
        coordinates = [(rows if turn is None else rows @ turn).cpu().numpy() for turn, _ in self._bases]
        for (_, moments), y in zip(self._bases, coordinates, strict=True):
            moments.add(y, place)
        turn, moments = self._bases[0]
        if renewed or self._steps % self.refresh == 0:
            self._axes = moments.axes(self.components)
        self._steps += 1
        value, slope = moments.leakage(coordinates[0], place, self._axes, self.sigma)
        self.trace.append(value)
        back = torch.from_numpy(slope @ self._axes.T).to(rows)
        return value, (live * (back if turn is None else back @ turn.T).to(live)).sum()

    def _renewed(self, rows: torch.Tensor) -> bool:
        """Whether the first basis is another one than before."""
        if rows.shape[1] <= RANK:
            self._bases = self._bases or [Basis(None, Moments(self.values, rows.shape[1], self.decay))]
            return False
        if self._steps % RENEWAL:
            return False
        turn = self._principal(rows)
        self._bases = [*self._bases[-1:], Basis(turn, Moments(self.values, turn.shape[1], self.decay))]
        return True

    def _principal(self, rows: torch.Tensor) -> torch.Tensor:
        """(d, RANK): the leading axes of the running covariance, once these rows (B, d) are in it."""
        import torch

        known = (rows - rows.mean(dim=0)) / math.sqrt(len(rows))
        if self._sketch is not None:
            known = torch.cat((math.sqrt(AGED) * self._sketch, math.sqrt(1 - AGED) * known))
        _, sizes, axes = torch.linalg.svd(known, full_matrices=False)
        self._sketch = sizes[:RANK, None] * axes[:RANK]
        return axes[:RANK].T.contiguous()
