"""secdt: trains on many fake classes in place of the true ones, normalizes gradients, and adds noise to the labels.

- Transformation: K = k `expansion` fake classes are randomly assigned to k pools of equal size, one per class. Each
  training example gets, once for the whole training, a random member of its class's pool, and the top model learns
  these. Class scores are the sums over each pool ("weighted"), or the pool of the most likely fake class ("maximum").
  `expansion` 1: no fake classes. Not the paper's: `redraw` draws an example's member anew whenever it is in a batch,
  and `pools` of "proportional" size have members in proportion to the examples of the class, one at least, so that all
  fake classes are of one size, as nearly as K members allow.
- Normalization: each gradient is scaled to the mean, least or greatest norm of its batch; 0 stays 0,
  and counts; a gradient so short that the factor overflows single precision becomes 0.
- Noise: the one-hot label gets `noise` times omega ~ N(0, I_K) (`noise_form` "raw", equation 16) or times its softmax
  ("softmax", algorithm 1 and appendix E). Only with the softmax do soft labels stay positive and sum to 1 + `noise`;
  neither is normalized again. omega is drawn in each step or, with `noise_once`, once for each training row; the paper
  leaves it open. 0: none.

Numbers of single precision cannot have exactly one norm, and how they miss it depends on the gradient: where a batch
has few different gradients, sorting by norm would sort by label (`test_label_defenses` has such a batch). So each
factor is also multiplied by 1 + DITHER N(0, 1): what is left of the norms' differences is a random order.

Jiang et al., "Training on Fake Labels: Mitigating Label Leakage in Split Learning via Secure Dimension
Transformation", equations 1 to 16 and algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import torch

from cutlayer.core.errors import InputError
from cutlayer.core.limits import Limits
from cutlayer.games.split.defense import Context, Defense, Training

DITHER = 1e-6  # many times the relative rounding of single precision, 6e-8


class Fakes(NamedTuple):
    """The fake classes, drawn before the training."""

    pools: list[torch.Tensor]  # of each class its fake classes, int64
    labels: torch.Tensor  # (n,) int64: the fake class of each training row
    noise: torch.Tensor | None  # (n, K), if it is drawn once


@dataclass(frozen=True)
class SecDT(Defense):
    """Dimension transformation, gradient normalization, and Gaussian noise on the labels."""

    limits: ClassVar[Limits] = {"expansion": (1, None), "noise": (0, None)}

    expansion: int = 10  # K / k
    noise: float = 0.3  # mu
    noise_form: Literal["softmax", "raw"] = "softmax"
    noise_once: bool = False
    normalize: Literal["none", "mean", "min", "max"] = "mean"
    decoding: Literal["weighted", "maximum"] = "weighted"
    pools: Literal["equal", "proportional"] = "equal"
    redraw: bool = False

    def begin(self, training: Training) -> Fakes:
        """Assign fake classes to the classes' pools, and draw one per training row (and its noise if drawn once)."""
        pools, labels = self._dealt(training)
        return Fakes(pools, labels, self._noise(len(labels), training) if self.noise_once else None)

    def _dealt(self, training: Training) -> tuple[list[torch.Tensor], torch.Tensor]:
        if self.expansion == 1:
            return [*torch.arange(training.classes)[:, None]], training.labels
        sizes = [self.expansion] * training.classes
        if self.pools == "proportional":
            sizes = shares(torch.bincount(training.labels, minlength=training.classes).tolist(), training.outputs)
        pools = [*torch.randperm(training.outputs, generator=training.generator).split(sizes)]
        return pools, self._drawn(pools, training.labels, training)

    def _drawn(self, pools: list[torch.Tensor], labels: torch.Tensor, training: Training) -> torch.Tensor:
        """A member (m,) of the pool of each of the labels (m,)."""
        sizes, labels = torch.tensor([len(pool) for pool in pools]), labels.cpu()
        if self.pools == "equal":
            drawn = torch.randint(self.expansion, labels.shape, generator=training.generator)
        else:
            share = torch.rand(labels.shape, generator=training.generator, dtype=torch.float64)
            drawn = (share * sizes[labels]).long()
        return torch.cat(pools)[sizes.cumsum(0)[labels] - sizes[labels] + drawn].to(training.device)

    def outputs(self, classes: int) -> int:
        """The number K of fake classes."""
        return classes * self.expansion

    def soft_labels(self, context: Context) -> torch.Tensor:
        """Soft labels (B, K): one-hot fake classes plus the noise."""
        labels = context.state.labels[context.rows, None]
        if self.redraw and self.expansion > 1:
            labels = self._drawn(context.state.pools, context.labels, context.training)[:, None]
        fixed = context.state.noise
        noise = self._noise(len(labels), context.training) if fixed is None else fixed[context.rows]
        return noise.scatter_add_(1, labels, torch.ones(labels.shape, device=labels.device))

    def _noise(self, rows: int, training: Training) -> torch.Tensor:
        """Noise (rows, K) on the soft labels."""
        if not self.noise:
            return torch.zeros((rows, training.outputs), device=training.device)
        omega = training.randn(rows, training.outputs)
        return (omega if self.noise_form == "raw" else omega.softmax(dim=1)).mul_(self.noise)

    def backward(self, gradient: torch.Tensor, context: Context) -> torch.Tensor:
        """Gradients (B, d) normalized to one norm."""
        if self.normalize == "none":
            return gradient
        norms = torch.linalg.vector_norm(gradient, dim=1, dtype=torch.float64)
        reference = getattr(norms, self.normalize)()
        dithered = torch.addcmul(reference, reference, context.training.randn(len(norms)), value=DITHER)
        return gradient * (dithered / norms).float().nan_to_num(posinf=0.0)[:, None]

    def to_class_probabilities(self, probabilities: np.ndarray, state: Fakes) -> np.ndarray:
        """Class scores (N, k) from the probabilities (N, K) of the fake classes."""
        return to_class_probabilities(probabilities, [pool.tolist() for pool in state.pools], self.decoding)


def shares(counts: Sequence[int], total: int) -> list[int]:
    """Integers that sum to `total`, in proportion to the counts by largest remainders, each at least 1.

    What the least ones take beyond their part is taken from the largest.
    """
    exact = [total * count / sum(counts) for count in counts]
    found = [max(1, int(share)) for share in exact]
    while sum(found) < total:
        found[max(range(len(found)), key=lambda place: exact[place] - found[place])] += 1
    while sum(found) > total:
        found[found.index(max(found))] -= 1
    return found


def to_class_probabilities(
    probabilities: np.ndarray, pools: Sequence[Sequence[int]] | np.ndarray, how: str = "weighted"
) -> np.ndarray:
    """Scores (N, k) of k classes from the probabilities (N, K) of K fake classes, assigned to k `pools`.

    weighted: the sum over each pool. maximum: 1 for the pool that has the row's largest probability (the first of
    several), 0 for the others; as the score of a binary task that is the hard decision, 0 or 1.

    Raises:
        InputError: `how` is neither, or the pools do not have each of the K columns once.

    """
    if how not in ("weighted", "maximum"):
        raise InputError("secdt.to_class_probabilities", f"how = {how!r}", "expected 'weighted' or 'maximum'")
    dealt = np.concatenate([np.asarray(pool, dtype=int) for pool in pools])
    if sorted(dealt) != list(range(probabilities.shape[1])):
        wrong = f"the pools hold {len(dealt)} classes"
        allowed = f"expected each of the {probabilities.shape[1]} columns once"
        raise InputError("secdt.to_class_probabilities", wrong, allowed)
    if how == "weighted":
        return np.stack([probabilities[:, list(pool)].sum(axis=1) for pool in pools], axis=1)
    top = probabilities.argmax(axis=1)
    return np.stack([np.isin(top, list(pool)) for pool in pools], axis=1).astype(float)
