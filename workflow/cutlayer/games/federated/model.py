"""The contract of a model of the federated game: the extractor, and what a device trains beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from cutlayer.games.base.model import CutModel, Inputs, missing


@dataclass(frozen=True)
class Model(CutModel):
    """Networks made of plain layers, so that those of many devices can be stacked."""

    games: ClassVar[set[str]] = {"federated"}

    def extractor(self, inputs: Inputs) -> nn.Sequential:
        """Encoded rows (B, ...) -> representations (B, ...)."""
        raise missing(self, "extractor")

    def head(self, inputs: Inputs, outputs: int) -> nn.Sequential:
        """Representations -> logits (B, outputs)."""
        raise missing(self, "head")

    def critic(self, inputs: Inputs, values: int) -> tuple[nn.Sequential, nn.Sequential, nn.Sequential]:
        """x -> what the trunk takes; the trunk; both trunks' outputs and u's one-hot row -> a score (B, 1)."""
        raise missing(self, "critic")

    def bottom(self, inputs: Inputs) -> nn.Module:
        """The extractor."""
        return Bottom(self.extractor(inputs))

    def top(self, inputs: Inputs, outputs: int) -> nn.Module:
        """The network after it."""
        return Top(self.head(inputs, outputs))


class Bottom(nn.Module):
    """The layers up to the cut: an encoded batch -> (features, features)."""

    def __init__(self, network: nn.Sequential) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """An encoded batch -> (features, features)."""
        (rows,) = x.values()
        features = self.network(rows)
        return features, features


class Top(nn.Module):
    """The layers after it: features -> logits."""

    def __init__(self, network: nn.Sequential) -> None:
        super().__init__()
        self.network = network

    def forward(self, features: Tensor, x: dict[str, Tensor]) -> Tensor:
        """Features -> logits."""
        return self.network(features)
