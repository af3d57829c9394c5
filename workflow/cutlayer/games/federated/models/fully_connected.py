"""fully_connected: extractor, classifier and utility network of linear layers, for tables.

The extractor is d - `width` / 2 - `width`, the network that predicts a label or an attribute from its representations
`width` - `width` / 2 - `width` - 4 - outputs. The utility network scores an example x, a representation r and an
attribute u: x passes through layers of 16, 32, `width` and `width`; the result, and r, each pass through the same trunk
of `depth` / 2 layers of `trunk` / 2 and `depth` of `trunk`; both and the one-hot u pass through 8 `trunk`, `trunk` and
1. With the defaults it has 7.9 million parameters, the extractor about ten thousand.

All columns enter standardized, codes as numbers. The initialization is that of He et al.

Arroyo Arevalo et al., "Task-Agnostic Privacy-Preserving Representation Learning for Federated Learning against
Attribute Inference Attacks", table 3, which does not say how the utility network's inputs are joined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch.nn import Sequential

from cutlayer.core.errors import InputError
from cutlayer.core.limits import Limits
from cutlayer.games.base.model import Inputs
from cutlayer.games.federated.model import Model

from ._layers import linear


@dataclass(frozen=True)
class FullyConnected(Model):
    """Fully connected networks with ReLUs."""

    limits: ClassVar[Limits] = {"width": (2, None), "trunk": (2, None), "depth": (1, None)}

    width: int = 128
    trunk: int = 512
    depth: int = 6

    def encode(self, features: np.ndarray, inputs: Inputs) -> dict[str, torch.Tensor]:
        """Columns (B, d) float32: standardized numbers, then codes divided by the largest code."""
        if features.ndim != 2:
            raise InputError("model.fully_connected", f"an example has the shape {inputs.shape}", "expected columns")
        numbers = (features[:, inputs.numeric] - inputs.center) / inputs.spread
        codes = features[:, inputs.categorical] / np.maximum(np.array(inputs.levels, dtype=float) - 1, 1)
        return {"columns": torch.from_numpy(np.concatenate([numbers, codes], axis=1)).float()}

    def extractor(self, inputs: Inputs) -> Sequential:
        """The extractor: columns (B, d) -> representations (B, `width`)."""
        return Sequential(*linear(inputs.shape[0], self.width // 2, self.width))

    def head(self, inputs: Inputs, outputs: int) -> Sequential:
        """A classifier: representations -> logits (B, outputs)."""
        return Sequential(*linear(self.width, self.width // 2, self.width, 4, outputs))

    def critic(self, inputs: Inputs, values: int) -> tuple[Sequential, Sequential, Sequential]:
        """The utility network: x's entry to the trunk; the trunk; its outputs (2 `trunk`) and one-hot u -> a score."""
        layers = [self.trunk // 2] * (self.depth // 2) + [self.trunk] * self.depth
        entry = linear(inputs.shape[0], 16, 32, self.width, self.width)
        trunk = linear(self.width, *layers)
        return (
            Sequential(*entry),
            Sequential(*trunk),
            Sequential(*linear(2 * self.trunk + values, 8 * self.trunk, self.trunk, 1)),
        )
