"""vgg: extractor, classifier and utility network of VGG-style convolutions, for images.

With c `channels`, and n x m for n convolutions of m channels, each group followed by a pooling of 2 x 2: the extractor
is 2 x c, 2 x 2c; the network after it is 3 x 4c, 3 x 8c, 3 x 8c and linear layers of 64c, 64c and outputs. In the
utility network, which scores an example x, a representation r and an attribute u, x goes through 1 x c/4, 1 x c/2 and
two convolutions of 2c; what comes of it, and r, each go through the same trunk, 3 x 4c, 3 x 8c, 3 x 8c; both and u's
one-hot row go through linear layers of 64c, 8c and 1.

Table 3 prints the three networks' layers in columns; how the utility network's inputs are joined it does not say, and
its sixth pooling would leave nothing of a 32 x 32 image: here an image of one pixel is pooled no further. `shrink` is
for quick runs: means of squares of so many pixels; `group` is the 3 of the larger groups. The first weights are He et
al.'s.

Arroyo Arevalo et al., "Task-Agnostic Privacy-Preserving Representation Learning for Federated Learning against
Attribute Inference Attacks", table 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch.nn import Flatten, MaxPool2d, Module, Sequential

from cutlayer.core.errors import InputError
from cutlayer.core.limits import Limits
from cutlayer.games.base.images import shrunk
from cutlayer.games.base.model import Inputs
from cutlayer.games.federated.model import Model

from ._layers import convolutions, linear


@dataclass(frozen=True)
class Vgg(Model):
    """VGG-style networks: groups of 3 x 3 convolutions with pooling, then linear layers."""

    limits: ClassVar[Limits] = {"channels": (4, None), "group": (1, None), "shrink": (1, None)}

    channels: int = 64
    group: int = 3
    shrink: int = 1

    def encode(self, features: np.ndarray, inputs: Inputs) -> dict[str, torch.Tensor]:
        """Images (B, C, H, W) float32 in [-1, 1], as `images`."""
        scale = np.float32(inputs.scale)

        def images(some: np.ndarray) -> torch.Tensor:
            return torch.from_numpy(some.astype(np.float32) / scale) * 2 - 1

        return {"images": shrunk(features, self.shrink, images)}

    def extractor(self, inputs: Inputs) -> Sequential:
        """The extractor: images -> representations (B, 2c, H / 4, W / 4)."""
        c = self.channels
        return self._sequence(inputs.shape[0], self._side(inputs), [[c, c], [2 * c, 2 * c]], [])

    def head(self, inputs: Inputs, outputs: int) -> Sequential:
        """A classifier: representations -> logits (B, outputs)."""
        c, side = self.channels, self._side(inputs, 2)
        return self._sequence(2 * c, side, self._large, [8 * c * _pooled(side, 3) ** 2, 64 * c, 64 * c, outputs])

    def critic(self, inputs: Inputs, values: int) -> tuple[Sequential, Sequential, Sequential]:
        """The utility network: x's entry to the trunk; the trunk; trunk outputs and one-hot u -> a score."""
        c, side = self.channels, self._side(inputs, 2)
        entry = self._sequence(inputs.shape[0], self._side(inputs), [[c // 4], [c // 2]], [])
        entry.extend(convolutions(c // 2, 2 * c, 2 * c))
        trunk = self._sequence(2 * c, side, self._large, [])
        trunk.append(Flatten())
        joined = 2 * 8 * c * _pooled(side, 3) ** 2 + values
        return entry, trunk, Sequential(*linear(joined, 64 * c, 8 * c, 1))

    @property
    def _large(self) -> list[list[int]]:
        c = self.channels
        return [[4 * c] * self.group, [8 * c] * self.group, [8 * c] * self.group]

    def _side(self, inputs: Inputs, pools: int = 0) -> int:
        """Pixels to a side after so many poolings."""
        if len(inputs.shape) != 3 or inputs.shape[1] != inputs.shape[2]:
            raise InputError("model.vgg", f"an example has the shape {inputs.shape}", "expected a square image")
        return _pooled(inputs.shape[1] // self.shrink, pools)

    def _sequence(self, inputs: int, side: int, groups: list[list[int]], sizes: list[int]) -> Sequential:
        """Groups of convolutions, each pooled while an image has several pixels; then linear layers, if any."""
        layers: list[Module] = []
        for channels in groups:
            layers += convolutions(inputs, *channels)
            layers += [MaxPool2d(2)] if side > 1 else []
            inputs, side = channels[-1], _pooled(side, 1)
        return Sequential(*layers, *([Flatten(), *linear(*sizes)] if sizes else []))


def _pooled(side: int, pools: int) -> int:
    """A side after so many poolings."""
    for _ in range(pools):
        side = max(1, side // 2)
    return side
