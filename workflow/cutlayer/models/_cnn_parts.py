"""The two parts of `cnn` as torch modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn.functional import max_pool2d

if TYPE_CHECKING:
    from .cnn import Cnn


class Bottom(nn.Module):
    """Two convolutions, each pooled, and a linear layer to the cut."""

    def __init__(self, model: Cnn, image: tuple[int, int, int]) -> None:
        super().__init__()
        channels, height, width = image
        self.first = nn.Conv2d(channels, model.channels, 3, padding=1)
        self.second = nn.Conv2d(model.channels, 2 * model.channels, 3, padding=1)
        self.last = nn.Linear(2 * model.channels * (height // 4) * (width // 4), model.width)

    def forward(self, x: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        first = max_pool2d(torch.relu(self.first(x["images"])), 2)
        second = max_pool2d(torch.relu(self.second(first)), 2)
        return first, torch.relu(self.last(second.flatten(1)))


class Top(nn.Module):
    """Two linear layers."""

    def __init__(self, model: Cnn, outputs: int) -> None:
        super().__init__()
        self.hidden, self.last = nn.Linear(model.width, model.width), nn.Linear(model.width, outputs)

    def forward(self, hidden: Tensor, x: dict[str, Tensor]) -> Tensor:
        return self.last(torch.relu(self.hidden(hidden)))
