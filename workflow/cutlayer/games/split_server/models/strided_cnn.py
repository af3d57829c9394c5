"""strided_cnn: a convolutional network for images, with three convolutions of stride 2 up to the cut.

One more convolution and four linear layers follow. `shrink` is for quick runs: average pooling of squares of so many
pixels.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", 6.1; strides, widths and the
normalizations between the convolutions are ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from cutlayer.core.errors import InputError
from cutlayer.core.limits import Limits
from cutlayer.games.base.images import shrunk
from cutlayer.games.split_server.model import Inputs, Model


@dataclass(frozen=True)
class StridedCnn(Model):
    """Convolutions of c, 2 c, 2 c `channels`, the cut, one of 4 c, and linear layers of 16 c, 8 c, 2 c and outputs."""

    limits: ClassVar[Limits] = {"channels": (1, None), "shrink": (1, None)}

    channels: int = 32
    shrink: int = 1
    normalized: bool = False  # features have mean 0 and variance 1 in each channel over a batch

    def encode(self, features: np.ndarray, inputs: Inputs) -> dict[str, torch.Tensor]:
        """Images (B, C, H, W) float32 in [0, 1], as `images`."""
        scale = np.float32(inputs.scale)
        return {"images": shrunk(features, self.shrink, lambda some: torch.from_numpy(some.astype(np.float32) / scale))}

    def bottom(self, inputs: Inputs) -> torch.nn.Module:
        """The clients' encoder: three convolutions."""
        _image(inputs)
        return Bottom(self, inputs.shape[0])

    def top(self, inputs: Inputs, outputs: int) -> torch.nn.Module:
        """The server's classifier: a convolution and four linear layers."""
        height, width = _image(inputs)
        return Top(self, (math.ceil(height // self.shrink / 8), math.ceil(width // self.shrink / 8)), outputs)


def _image(inputs: Inputs) -> tuple[int, int]:
    """Height and width of an example's image."""
    if len(inputs.shape) != 3:
        raise InputError("model.strided_cnn", f"an example has the shape {inputs.shape}", "expected an image")
    _, height, width = inputs.shape
    return height, width


class Bottom(nn.Module):
    """Three convolutions that each halve the image."""

    def __init__(self, model: StridedCnn, channels: int) -> None:
        super().__init__()
        c = model.channels
        self.first, self.first_normal = _halving(channels, c), nn.BatchNorm2d(c)
        self.second, self.second_normal = _halving(c, 2 * c), nn.BatchNorm2d(2 * c)
        self.last = _halving(2 * c, 2 * c)
        self.normal = nn.BatchNorm2d(2 * c, affine=False) if model.normalized else nn.Identity()

    def forward(self, x: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        first = torch.relu(self.first_normal(self.first(x["images"])))
        second = torch.relu(self.second_normal(self.second(first)))
        return first, self.normal(self.last(second))


class Top(nn.Module):
    """A convolution that halves the image, and four linear layers."""

    def __init__(self, model: StridedCnn, cut: tuple[int, int], outputs: int) -> None:
        super().__init__()
        c, (height, width) = model.channels, cut
        self.convolution = _halving(2 * c, 4 * c)
        sizes = [4 * c * -(-height // 2) * -(-width // 2), 16 * c, 8 * c, 2 * c]
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(sizes))
        self.last = nn.Linear(2 * c, outputs)

    def forward(self, features: Tensor, x: dict[str, Tensor]) -> Tensor:
        hidden = torch.relu(self.convolution(features)).flatten(1)
        for layer in self.hidden:
            hidden = torch.relu(layer(hidden))
        return self.last(hidden)


def _halving(inputs: int, outputs: int) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, 3, stride=2, padding=1)
