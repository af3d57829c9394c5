"""Base class of attribute defenses in federated learning: a device's auxiliary networks, regularizer and upload."""

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
    """The context of a federated training: what the devices know of it."""

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
    """An attribute defense; the devices run all hooks."""

    games: ClassVar[set[str]] = {"federated"}

    @property
    def roles(self) -> Mapping[str, float]:
        """The networks that a device trains alongside the extractor, and their losses' weights in the extractor's loss.

        "utility" scores (x, r, u), and its loss is -I_JSD; "privacy" predicts u from r, "task" the label from r, both
        by cross-entropy. Each network minimizes its own loss; with a weight below 0 the extractor maximizes it. Without
        any network nothing is trained or uploaded, and the extractor stays as drawn, before pre-training.
        """
        return {"utility": 1.0}

    @base.returns(_regularized)
    def regularizer(
        self, features: torch.Tensor, attribute: torch.Tensor, mask: torch.Tensor, values: int
    ) -> torch.Tensor | None:
        """Penalty (D,) on the extractor's loss of each of D devices, on a batch of each; None: there is none.

        Of features (D, B, ...), and attribute (D, B) int64 with so many values. Rows where mask (D, B) is False are
        padding and do not count.
        """
        return None

    @base.returns(_uploaded)
    def upload(self, before: torch.Tensor, after: torch.Tensor, federation: FederationContext) -> torch.Tensor:
        """Uploads (D, P) float32 of D devices, for parameters `after` (D, P) that were trained from `before` (P,)."""
        return after

    def spent(self, federation: FederationContext) -> dict[str, float]:
        """Privacy budget spent by all uploads of a device, {"epsilon": ..., "delta": ...}; empty: no guarantee."""
        return {}
