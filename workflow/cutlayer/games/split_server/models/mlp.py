"""mlp: a multilayer perceptron for tables, with two layers up to the cut and three after it.

Numeric columns enter standardized, categorical ones as one-hot rows.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", 6.1, say "a two-layer MLP" and
"a three-layer MLP"; the widths are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from cutlayer.core.limits import Limits
from cutlayer.games.split_server.model import Inputs, Model


@dataclass(frozen=True)
class Mlp(Model):
    """Multilayer perceptron d - 2 `width` - `width`, the cut, `width` - `width` - `width` / 2 - outputs."""

    limits: ClassVar[Limits] = {"width": (2, None)}

    width: int = 64
    normalized: bool = False  # features have mean 0 and variance 1 over a batch

    def encode(self, features: np.ndarray, inputs: Inputs) -> dict[str, torch.Tensor]:
        """Columns (B, d) float32: standardized numbers, then one-hot encodings of the categorical ones."""

        numbers = (features[:, inputs.numeric] - inputs.center) / inputs.spread
        codes = torch.from_numpy(features[:, inputs.categorical].astype(np.int64))
        hot = [one_hot(codes[:, i], levels) for i, levels in enumerate(inputs.levels)]
        return {"columns": torch.cat([torch.from_numpy(numbers), *hot], dim=1).float()}

    def bottom(self, inputs: Inputs) -> torch.nn.Module:
        """The clients' encoder: two layers."""
        return Bottom(self, inputs)

    def top(self, inputs: Inputs, outputs: int) -> torch.nn.Module:
        """The server's classifier: three layers."""
        return Top(self, outputs)


class Bottom(nn.Module):
    """Two layers up to the cut."""

    def __init__(self, model: Mlp, inputs: Inputs) -> None:
        super().__init__()
        self.first = nn.Linear(len(inputs.numeric) + sum(inputs.levels), 2 * model.width)
        self.last = nn.Linear(2 * model.width, model.width)
        self.normal = nn.BatchNorm1d(model.width, affine=False) if model.normalized else nn.Identity()

    def forward(self, x: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        first = torch.relu(self.first(x["columns"]))
        return first, self.normal(self.last(first))


class Top(nn.Module):
    """Three layers from the cut to the logits."""

    def __init__(self, model: Mlp, outputs: int) -> None:
        super().__init__()
        self.first = nn.Linear(model.width, model.width)
        self.second = nn.Linear(model.width, model.width // 2)
        self.last = nn.Linear(model.width // 2, outputs)

    def forward(self, features: Tensor, x: dict[str, Tensor]) -> Tensor:
        return self.last(torch.relu(self.second(torch.relu(self.first(features)))))
