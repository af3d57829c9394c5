"""Base class of federated models: the extractor, and the networks that a device trains alongside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from cutlayer.games.base.model import CutModel, Inputs, missing


@dataclass(frozen=True)
class Model(CutModel):
    """Networks of plain layers, so that those of many devices can be stacked."""

    games: ClassVar[set[str]] = {"federated"}

    def extractor(self, inputs: Inputs) -> nn.Sequential:
        """The extractor: encoded rows (B, ...) -> representations (B, ...)."""
        raise missing(self, "extractor")

    def head(self, inputs: Inputs, outputs: int) -> nn.Sequential:
        """A classifier: representations -> logits (B, outputs)."""
        raise missing(self, "head")

    def critic(self, inputs: Inputs, values: int) -> tuple[nn.Sequential, nn.Sequential, nn.Sequential]:
        """The utility network: x's entry to the trunk; the trunk; trunk outputs and one-hot u -> a score (B, 1)."""
        raise missing(self, "critic")

    def bottom(self, inputs: Inputs) -> nn.Module:
        """The extractor."""
        return Bottom(self.extractor(inputs))

    def top(self, inputs: Inputs, outputs: int) -> nn.Module:
        """The classifier on its representations."""
        return Top(self.head(inputs, outputs))


class Bottom(nn.Module):
    """The layers up to the cut: encoded rows -> (features, features)."""

    def __init__(self, network: nn.Sequential) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Encoded rows -> (features, features)."""
        (rows,) = x.values()
        features = self.network(rows)
        return features, features


class Top(nn.Module):
    """The layers after the cut: features -> logits."""

    def __init__(self, network: nn.Sequential) -> None:
        super().__init__()
        self.network = network

    def forward(self, features: Tensor, x: dict[str, Tensor]) -> Tensor:
        """Features -> logits."""
        return self.network(features)
