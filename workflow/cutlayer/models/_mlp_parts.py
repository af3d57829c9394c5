"""The two parts of `mlp` as torch modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from .base import Inputs
    from .mlp import Mlp


class Bottom(nn.Module):
    """Two layers; what is sent is normalized."""

    def __init__(self, model: Mlp, inputs: Inputs) -> None:
        super().__init__()
        self.first = nn.Linear(len(inputs.numeric) + sum(inputs.levels), 2 * model.width)
        self.last = nn.Linear(2 * model.width, model.width)
        self.normal = nn.BatchNorm1d(model.width, affine=False)

    def forward(self, x: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        first = torch.relu(self.first(x["columns"]))
        return first, self.normal(self.last(first))


class Top(nn.Module):
    """Three layers."""

    def __init__(self, model: Mlp, outputs: int) -> None:
        super().__init__()
        self.first = nn.Linear(model.width, model.width)
        self.second = nn.Linear(model.width, model.width // 2)
        self.last = nn.Linear(model.width // 2, outputs)

    def forward(self, features: Tensor, x: dict[str, Tensor]) -> Tensor:
        return self.last(torch.relu(self.second(torch.relu(self.first(features)))))
