"""The contract of a defense: what a protecting party does to what it sends, and to its own training.

A defense is one file with one frozen dataclass. Its fields are its parameters, its methods are hooks
that a protocol calls; each is a no-op unless the defense overrides it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
class Clients:
    """What the clients of the split_server protocol know before the first step."""

    attribute: torch.Tensor  # (n,) int64: the sensitive attribute of the training rows
    values: int  # how many values it has
    sigma: float  # of the noise added to the features that are sent
    epochs: int
    steps: int  # in all
    features: Callable[[torch.Tensor], torch.Tensor]  # training rows (B,) -> features, encoder in training mode
    parameters: list[torch.Tensor]  # the encoder's
    decoder: Callable[[int], torch.nn.Module]  # outputs -> a fresh network of the classifier's shape, net(features, {})
    batch: Callable[[], torch.Tensor]  # (B,): random training rows, drawn from `generator`
    generator: torch.Generator = field(repr=False)  # on the CPU, see `devices`
    device: str = "cpu"

    def randn(self, *shape: int) -> torch.Tensor:
        """Standard normal float32 numbers, the same on every device."""
        import torch

        return torch.randn(shape, generator=self.generator).to(self.device)


@dataclass(frozen=True)
class FeatureWire:
    """What the clients of the split_server protocol know in a step."""

    clients: Clients
    rows: torch.Tensor  # (B,) int64: the batch's places among the training rows
    loss: float  # the batch's utility loss
    state: Any = None  # what the defense's `join` returned

    @property
    def attribute(self) -> torch.Tensor:
        """(B,) int64: the batch's sensitive attribute."""
        return self.clients.attribute[self.rows]


@dataclass(frozen=True)
class Federation:
    """What the devices of the federated protocol know of the training."""

    devices: int  # in all
    participants: int  # in a round
    rounds: int
    generator: torch.Generator = field(repr=False)  # on the CPU, see `devices`
    device: str = "cpu"

    def randn(self, *shape: int) -> torch.Tensor:
        """Standard normal float32 numbers, the same on every device."""
        import torch

        return torch.randn(shape, generator=self.generator).to(self.device)

    def rand(self, *shape: int) -> torch.Tensor:
        """Uniform float32 numbers in [0, 1), the same on every device."""
        import torch

        return torch.rand(shape, generator=self.generator).to(self.device)


@dataclass(frozen=True)
class Defense:
    """Base of all defenses."""

    protocols: ClassVar[set[str]] = {"vertical"}
    needs: ClassVar[set[str]] = set()  # keys a setup must have, e.g. {"sensitive"}
    classes: ClassVar[set[int]] = set()  # numbers of classes it is for; empty: any
    limits: ClassVar[Limits] = {}
    watches: ClassVar[bool] = False  # whether `moved` is to be called
    strength: ClassVar[str] = ""  # the parameter that trades utility for privacy: the more of it, the less leaks
    strengths: ClassVar[tuple[float, float]] = (0.0, 0.0)  # its least and greatest value worth a try

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

    # The split_server protocol's hooks, all on the clients' side.

    @property
    def optimizer(self) -> str:
        """What the encoder's gradients go through: "adam" or "sgd"."""
        return "adam"

    def pace(self, rate: float) -> float:
        """The encoder's learning rate with "sgd", given the setup's, which is meant for Adam."""
        return rate

    def join(self, clients: Clients) -> Any:
        """Called before anything is sent; what it returns is the `state` of every later hook."""
        return None

    def penalty(self, features: torch.Tensor, wire: FeatureWire) -> torch.Tensor | None:
        """What the clients add to the utility loss: a scalar of the features (B, ...), which have no noise yet."""
        return None

    def update(self, utility: torch.Tensor, features: torch.Tensor, wire: FeatureWire) -> bool:
        """Set the encoder's gradients for one step; False: the encoder takes none.

        `utility` is a scalar whose gradient with respect to the encoder is the utility loss's.
        """
        penalty = self.penalty(features, wire)
        (utility if penalty is None else utility + penalty).backward()
        return True

    def moved(self, before: list[torch.Tensor], wire: FeatureWire) -> None:
        """Called after a step, with the encoder's parameters before it, if the class `watches`."""

    def report(self, state: Any) -> dict[str, np.ndarray | float]:
        """Of the whole training: an array with a number for each step, or one number."""
        return {}

    # The federated protocol's hooks, all on the devices' side.

    @property
    def roles(self) -> Mapping[str, float]:
        """The networks a device trains beside the extractor, and the factor of each one's loss in the extractor's own.

        "utility" scores (x, r, u), and its loss is -I_JSD; "privacy" predicts u from r, "task" the label from r, both
        by cross-entropy. Each network descends its own loss; with a factor below 0 the extractor ascends it.
        """
        return {"utility": 1.0}

    def regularizer(
        self, features: torch.Tensor, attribute: torch.Tensor, mask: torch.Tensor, values: int
    ) -> torch.Tensor | None:
        """(D,): what the extractor of each of D devices adds to its loss, of a batch of each.

        Of features (D, B, ...), and attribute (D, B) int64 with so many values. Rows where mask (D, B) is False are
        padding and do not count.
        """
        return None

    def upload(self, before: torch.Tensor, after: torch.Tensor, federation: Federation) -> torch.Tensor:
        """(D, P) float32: what D devices send for the parameters `after` (D, P), trained from `before` (P,)."""
        return after

    def spent(self, federation: Federation) -> dict[str, float]:
        """What the uploads of the whole training guarantee a device, e.g. {"epsilon": ..., "delta": ...}."""
        return {}
