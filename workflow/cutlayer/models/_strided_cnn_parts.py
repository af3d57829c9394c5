"""The two parts of `strided_cnn` as torch modules."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from .strided_cnn import StridedCnn


class Bottom(nn.Module):
    """Three convolutions that each halve the image; what is sent is normalized by channel."""

    def __init__(self, model: StridedCnn, channels: int) -> None:
        super().__init__()
        c = model.channels
        self.first, self.first_normal = _halving(channels, c), nn.BatchNorm2d(c)
        self.second, self.second_normal = _halving(c, 2 * c), nn.BatchNorm2d(2 * c)
        self.last, self.normal = _halving(2 * c, 2 * c), nn.BatchNorm2d(2 * c, affine=False)

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
