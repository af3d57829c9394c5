"""cnn: two pooled convolutions and three linear layers, cut after the first linear one or, with `cut`, before it.

Rows of d x d numbers without a shape of their own (digits) are images of one channel. `shrink` is for quick runs:
average pooling of so many by so many pixels. A cut after a pooled convolution leaves the later layers to the label
party, so that the feature party's model is smaller and what crosses the cut wider.

LeCun et al., "Gradient-Based Learning Applied to Document Recognition"; Jiang et al., "Training on Fake Labels",
say "a CNN" and no more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import max_pool2d

from cutlayer.core.errors import InputError
from cutlayer.core.limits import Limits
from cutlayer.games.base.images import shrunk
from cutlayer.games.split.model import Inputs, Model

LAYOUT = torch.channels_last  # in which convolutions of few channels are faster, see benchmarks/seeds_together.md


@dataclass(frozen=True)
class Cnn(Model):
    """Convolutional network: 3 x 3 convolutions of `channels` and twice as many channels, then `width` units."""

    limits: ClassVar[Limits] = {"width": (1, None), "channels": (1, None), "shrink": (1, None)}

    width: int = 128
    channels: int = 32
    shrink: int = 1
    cut: Literal["first_pool", "second_pool", "linear"] = "linear"  # the last layer of the feature party

    def encode(self, features: np.ndarray, inputs: Inputs) -> dict[str, torch.Tensor]:
        """Images (B, C, H, W) float32 in [0, 1], as `images`."""
        scale, shape = np.float32(inputs.scale), (-1, *_image(inputs))

        def images(some: np.ndarray) -> torch.Tensor:
            return torch.from_numpy((some.astype(np.float32) / scale).reshape(shape))

        return {"images": shrunk(features, self.shrink, images).contiguous(memory_format=LAYOUT)}

    def bottom(self, inputs: Inputs) -> torch.nn.Module:
        """The feature party's model: up to two convolutions and a linear layer to the cut."""
        bottom = Bottom(self, self._shrunk(inputs))
        return bottom.to(memory_format=LAYOUT)  # type: ignore[call-overload]

    def top(self, inputs: Inputs, outputs: int) -> torch.nn.Module:
        """The label party's model: two linear layers, and before them what the cut leaves it."""
        return Top(self, self._shrunk(inputs), outputs)

    def _shrunk(self, inputs: Inputs) -> tuple[int, int, int]:
        channels, height, width = _image(inputs)
        return channels, height // self.shrink, width // self.shrink


def _image(inputs: Inputs) -> tuple[int, int, int]:
    """Channels, height and width of an example's image."""
    if len(inputs.shape) == 3:
        channels, height, width = inputs.shape
        return channels, height, width
    side = math.isqrt(inputs.shape[0])
    if len(inputs.shape) != 1 or side * side != inputs.shape[0]:
        raise InputError("model.cnn", f"an example has the shape {inputs.shape}", "an image, or d x d numbers")
    return 1, side, side


def _pooled(layer: nn.Module, x: Tensor) -> Tensor:
    return max_pool2d(torch.relu(layer(x)), 2)


def _second(model: Cnn) -> nn.Conv2d:
    return nn.Conv2d(model.channels, 2 * model.channels, 3, padding=1)


def _linear(model: Cnn, image: tuple[int, int, int]) -> nn.Linear:
    return nn.Linear(2 * model.channels * (image[1] // 4) * (image[2] // 4), model.width)


class Bottom(nn.Module):
    """Up to two convolutions, each pooled, and a linear layer to the cut."""

    def __init__(self, model: Cnn, image: tuple[int, int, int]) -> None:
        super().__init__()
        self.first = nn.Conv2d(image[0], model.channels, 3, padding=1)
        self.second = None if model.cut == "first_pool" else _second(model)
        self.last = _linear(model, image) if model.cut == "linear" else None

    def forward(self, x: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        first = _pooled(self.first, x["images"])
        found = (_pooled(self.second, first) if self.second else first).flatten(1)
        return first, torch.relu(self.last(found)) if self.last else found


class Top(nn.Module):
    """What follows the cut up to the first linear layer, and two linear layers to the logits."""

    def __init__(self, model: Cnn, image: tuple[int, int, int], outputs: int) -> None:
        super().__init__()
        self.hidden, self.last = nn.Linear(model.width, model.width), nn.Linear(model.width, outputs)
        self.second = _second(model) if model.cut == "first_pool" else None
        self.linear = None if model.cut == "linear" else _linear(model, image)
        self._pooled = model.channels, image[1] // 2, image[2] // 2

    def forward(self, hidden: Tensor, x: dict[str, Tensor]) -> Tensor:
        if self.second:
            hidden = _pooled(self.second, hidden.unflatten(1, self._pooled)).flatten(1)
        if self.linear:
            hidden = torch.relu(self.linear(hidden))
        return self.last(torch.relu(self.hidden(hidden)))
