"""Linear and convolutional layers with ReLUs, initialized as by He et al."""

from __future__ import annotations

from itertools import pairwise

from torch import nn


def linear(*sizes: int) -> list[nn.Module]:
    """Linear layers of these sizes, with ReLUs between them.

    The initialization of He et al. keeps a signal through a dozen layers without normalization.
    """
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [_drawn(nn.Linear(inputs, outputs)), nn.ReLU()]
    return layers[:-1]


def convolutions(inputs: int, *channels: int) -> list[nn.Module]:
    """3 x 3 convolutions with these channels, each followed by a ReLU, with the initialization of He et al."""
    layers: list[nn.Module] = []
    for outputs in channels:
        layers += [_drawn(nn.Conv2d(inputs, outputs, 3, padding=1)), nn.ReLU()]
        inputs = outputs
    return layers


def _drawn(layer: nn.Linear | nn.Conv2d) -> nn.Module:
    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    nn.init.zeros_(layer.bias)  # type: ignore[arg-type]  # these layers have one
    return layer
