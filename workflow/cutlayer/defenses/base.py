"""The contract of a defense: what a protecting party does to what it sends, and to its own training.

A defense is one file with one frozen dataclass. Its fields are its parameters, its methods are hooks
that a protocol calls; each is a no-op unless the defense overrides it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..equations import difference_matrix, softmax
from ..limits import Limits

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Wire:
    """What the protecting party of the vertical protocol knows when a hook is called."""

    weights: np.ndarray  # (k, d): the passive party's weights
    features: np.ndarray  # (n, d): the passive party's own features, in [0, 1]
    rng: np.random.Generator = field(repr=False)

    @property
    def coefficients(self) -> np.ndarray:
        """A = J W_pas (k-1 x d), the left side of the equations an adversary can set up."""
        return difference_matrix(len(self.weights)) @ self.weights


@dataclass(frozen=True)
class Training:
    """What the label party of the split protocol knows before the first step."""

    labels: torch.Tensor  # (n,) int64: the labels of the training rows
    classes: int
    releases: int  # how often each example's gradient is sent: the epochs
    generator: torch.Generator = field(repr=False)  # on the CPU, see `devices`
    device: str = "cpu"

    def randn(self, *shape: int) -> torch.Tensor:
        """Standard normal float32 numbers, the same on every device."""
        import torch

        return torch.randn(shape, generator=self.generator).to(self.device)


@dataclass(frozen=True)
class CutWire:
    """What the label party of the split protocol knows of a batch."""

    training: Training
    rows: torch.Tensor  # (B,) int64: the batch's places among the training rows
    state: Any = None  # what the defense's `begin` returned

    @property
    def labels(self) -> torch.Tensor:
        """(B,) int64: the batch's labels."""
        return self.training.labels[self.rows]


@dataclass(frozen=True)
class Defense:
    """Base of all defenses."""

    protocols: ClassVar[set[str]] = {"vertical"}
    needs: ClassVar[set[str]] = set()  # keys a setup must have, e.g. {"sensitive"}
    classes: ClassVar[set[int]] = set()  # numbers of classes it is for; empty: any
    limits: ClassVar[Limits] = {}

    # The vertical protocol's hooks.

    @property
    def rescaling(self) -> tuple[float, float]:
        """(a, c) when the passive party trains on a x + c in place of its features x; (1, 0): it does not."""
        return 1.0, 0.0

    def publish(self, weights: np.ndarray, bias: np.ndarray, wire: Wire) -> tuple[np.ndarray, np.ndarray]:
        """The passive party's weights (k x d) and the bias (k,) that are shown to the active party."""
        return weights, bias

    def reveal(self, logits: np.ndarray, wire: Wire) -> np.ndarray:
        """The confidence scores (N x k, rows sum to 1) revealed for these logits (N x k)."""
        return softmax(logits)

    # The split protocol's hooks, all on the label party's side.

    def begin(self, training: Training) -> Any:
        """Called before the first step; what it returns is the `state` of every later hook."""
        return None

    def outputs(self, classes: int) -> int:
        """How many classes the top model tells apart."""
        return classes

    def target(self, wire: CutWire) -> torch.Tensor:
        """What the batch is trained towards: (B, outputs) float32, a row of weights on the classes' log-losses."""
        from torch.nn.functional import one_hot

        return one_hot(wire.labels, self.outputs(wire.training.classes)).float()

    def backward(self, gradient: torch.Tensor, wire: CutWire) -> torch.Tensor:
        """What is sent for the per-example gradients (B, d) at the cut."""
        return gradient

    def decode(self, probabilities: np.ndarray, state: Any) -> np.ndarray:
        """The (N, classes) scores, rows sum to 1, that the top model's probabilities (N, outputs) stand for."""
        return probabilities
