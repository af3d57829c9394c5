"""Base class of attribute defenses in split learning: the released features, the clients' penalty, their updates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import torch

from cutlayer.games.base import checks
from cutlayer.games.base import defense as base
from cutlayer.games.base.party import PartyContext

Descent = tuple[Literal["adam", "sgd"], float]


@dataclass(frozen=True)
class ClientsContext(PartyContext):
    """The context of a training: what the clients know before the first step."""

    attribute: torch.Tensor  # (n,) int64: the sensitive attribute of the training rows
    values: int  # how many values it has
    sigma: float  # standard deviation of the noise on released features
    epochs: int
    steps: int  # in all
    features: Callable[[torch.Tensor], torch.Tensor]  # training rows (B,) -> features, encoder in training mode
    parameters: list[torch.Tensor]  # the encoder's
    decoder: Callable[[int], torch.nn.Module]  # outputs -> a fresh network of the classifier's shape, net(features, {})
    batch: Callable[[], torch.Tensor]  # (B,): random training rows, drawn from `generator`
    queries: int = 1  # releases of a row once the encoder is trained

    @property
    def num_releases(self) -> int:
        """Largest number of releases of a row: one per epoch in training, or one per query later."""
        return max(self.epochs, self.queries)


@dataclass(frozen=True)
class Context:
    """The context of a training step: what the clients know of its batch."""

    clients: ClientsContext
    rows: torch.Tensor  # (B,) int64: the batch's places among the training rows
    loss: float  # the batch's utility loss
    state: Any = None  # what the defense's `begin` returned

    @property
    def attribute(self) -> torch.Tensor:
        """The batch's sensitive attribute (B,) int64."""
        return self.clients.attribute[self.rows]


def _released(name: str, found: Any, defense: Defense, features: torch.Tensor) -> None:
    checks.like(name, "release", found, features)


def _deviation(name: str, found: Any, *_: Any) -> None:
    checks.deviation(name, "deviation", found)


def _penalty(name: str, found: Any, defense: Defense, features: torch.Tensor, context: Context) -> None:
    if found is not None:
        checks.shaped(name, "penalty", found, (), features.dtype, features.device)
        checks.follows(name, "penalty", found, features)


def _updated(name: str, found: Any, *_: Any) -> None:
    checks.truth(name, "update", found)


@dataclass(frozen=True)
class Defense(base.Defense):
    """An attribute defense; the clients run all hooks, in the order in which they are called."""

    games: ClassVar[set[str]] = {"split_server"}
    watches: ClassVar[bool] = False  # whether `moved` is to be called

    def descent(self, rate: float) -> Descent:
        """The optimizer of the encoder and its learning rate, given the rate that the setup declares for Adam."""
        return "adam", rate

    def begin(self, clients: ClientsContext) -> Any:
        """Set up the defense before anything is released; the result is the `state` of every later hook."""
        return None

    @base.returns(_released)
    def release(self, features: torch.Tensor) -> torch.Tensor:
        """The features released in place of (B, ...), before noise, whenever features leave the clients."""
        return features

    @base.returns(_deviation)
    def deviation(self, clients: ClientsContext) -> float:
        """The standard deviation of the noise on all that leaves the clients, in training and after it.

        0: as the setup has it, `sigma` on what trains the classifier, and on what the adversary sees by `noisy_views`.
        """
        return 0.0

    @base.returns(checks.guarantee)
    def auc_bound(self, clients: ClientsContext) -> float | None:
        """Upper bound on the AUC of any attack on a row's attribute, or None if the defense gives no guarantee."""
        return None

    @base.returns(_penalty)
    def penalty(self, features: torch.Tensor, context: Context) -> torch.Tensor | None:
        """The clients' penalty, added to the utility loss: a scalar of the noiseless features (B, ...), or None."""
        return None

    @base.returns(_updated)
    def update(self, utility: torch.Tensor, features: torch.Tensor, context: Context) -> bool:
        """Set the encoder's gradients for one step; False skips the step.

        `utility` is a scalar whose gradient with respect to the encoder is the utility loss's.
        """
        penalty = self.penalty(features, context)
        (utility if penalty is None else utility + penalty).backward()
        return True

    def moved(self, before: list[torch.Tensor], context: Context) -> None:
        """Observe a step, given the encoder's parameters before it; called if the class `watches`."""

    def report(self, state: Any) -> dict[str, np.ndarray | float]:
        """Statistics of the whole training: for each an array with a number per step, or one number."""
        return {}
