"""Both sides of a model made of plain layers, as what other protocols and attacks call."""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor, nn


class Bottom(nn.Module):
    """The layers up to the cut: an encoded batch -> (features, features)."""

    def __init__(self, network: nn.Sequential) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        (rows,) = x.values()
        features = self.network(rows)
        return features, features


class Top(nn.Module):
    """The layers after it: features -> logits."""

    def __init__(self, network: nn.Sequential) -> None:
        super().__init__()
        self.network = network

    def forward(self, features: Tensor, x: dict[str, Tensor]) -> Tensor:
        return self.network(features)


def linear(*sizes: int) -> list[nn.Module]:
    """Linear layers of these sizes, each but the last followed by a ReLU.

    Weights are drawn as He et al. do, so that a signal survives a dozen layers without normalization.
    """
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [_drawn(nn.Linear(inputs, outputs)), nn.ReLU()]
    return layers[:-1]


def convolutions(inputs: int, *channels: int) -> list[nn.Module]:
    """3 x 3 convolutions with these channels, each followed by a ReLU, drawn in the same way."""
    layers: list[nn.Module] = []
    for outputs in channels:
        layers += [_drawn(nn.Conv2d(inputs, outputs, 3, padding=1)), nn.ReLU()]
        inputs = outputs
    return layers


def _drawn(layer: nn.Linear | nn.Conv2d) -> nn.Module:
    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    nn.init.zeros_(layer.bias)  # type: ignore[arg-type]  # these layers have one
    return layer
