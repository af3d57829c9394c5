"""The contract of a defense of the federated game: what a device's extractor learns with and against, and uploads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from cutlayer.games.base import checks
from cutlayer.games.base import defense as base
from cutlayer.games.base.party import PartyContext


@dataclass(frozen=True)
class FederationContext(PartyContext):
    """What the devices know of the training."""

    devices: int  # in all
    participants: int  # in a round
    rounds: int


def _regularized(name: str, found: Any, defense: Defense, features: torch.Tensor, *_: Any) -> None:
    if found is not None:
        checks.shaped(name, "regularizer", found, features.shape[:1], features.dtype, features.device)
        checks.follows(name, "regularizer", found, features)


def _uploaded(
    name: str, found: Any, defense: Defense, before: torch.Tensor, after: torch.Tensor, federation: FederationContext
) -> None:
    checks.like(name, "upload", found, after)


@dataclass(frozen=True)
class Defense(base.Defense):
    """What protects the attribute; all hooks are the devices'."""

    games: ClassVar[set[str]] = {"federated"}

    @property
    def roles(self) -> Mapping[str, float]:
        """The networks a device trains beside the extractor, and the factor of each one's loss in the extractor's own.

        "utility" scores (x, r, u), and its loss is -I_JSD; "privacy" predicts u from r, "task" the label from r, both
        by cross-entropy. Each network descends its own loss; with a factor below 0 the extractor ascends it.
        """
        return {"utility": 1.0}

    @base.returns(_regularized)
    def regularizer(
        self, features: torch.Tensor, attribute: torch.Tensor, mask: torch.Tensor, values: int
    ) -> torch.Tensor | None:
        """(D,): what the extractor of each of D devices adds to its loss, of a batch of each.

        Of features (D, B, ...), and attribute (D, B) int64 with so many values. Rows where mask (D, B) is False are
        padding and do not count.
        """
        return None

    @base.returns(_uploaded)
    def upload(self, before: torch.Tensor, after: torch.Tensor, federation: FederationContext) -> torch.Tensor:
        """(D, P) float32: what D devices send for the parameters `after` (D, P), trained from `before` (P,)."""
        return after

    def spent(self, federation: FederationContext) -> dict[str, float]:
        """What the uploads of the whole training guarantee a device, e.g. {"epsilon": ..., "delta": ...}."""
        return {}
