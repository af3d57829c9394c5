"""mlp: two layers up to the cut and three after it, for tables.

Numeric columns enter standardized, categorical ones as one-hot rows. What is sent has mean 0 and variance 1 over a
batch (a normalization without scale and shift): noise of a fixed size then means something.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", 6.1, say "a two-layer MLP" and
"a three-layer MLP"; the widths and the normalization are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..limits import Limits
from .base import Inputs, Model

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Mlp(Model):
    """d - 2 `width` - `width`, the cut, `width` - `width` - `width` / 2 - outputs."""

    protocols: ClassVar[set[str]] = {"split_server"}
    limits: ClassVar[Limits] = {"width": (2, None)}

    width: int = 64

    def encode(self, features: np.ndarray, inputs: Inputs) -> dict[str, torch.Tensor]:
        """`columns` (B, d) float32: standardized numbers, then a one-hot row for each categorical column."""
        import torch
        from torch.nn.functional import one_hot

        numbers = (features[:, inputs.numeric] - inputs.center) / inputs.spread
        codes = torch.from_numpy(features[:, inputs.categorical].astype(np.int64))
        hot = [one_hot(codes[:, i], levels) for i, levels in enumerate(inputs.levels)]
        return {"columns": torch.cat([torch.from_numpy(numbers), *hot], dim=1).float()}

    def bottom(self, inputs: Inputs) -> torch.nn.Module:
        """Two layers and the normalization."""
        return _parts().Bottom(self, inputs)

    def top(self, inputs: Inputs, outputs: int) -> torch.nn.Module:
        """Three layers."""
        return _parts().Top(self, outputs)


def _parts():  # type: ignore[no-untyped-def]  # torch is imported late
    from . import _mlp_parts

    return _mlp_parts
