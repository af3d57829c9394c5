"""cnn: a convolutional network cut after two pooled convolutions and a linear layer, with two linear layers on top.

Rows of d x d numbers without a shape of their own (digits) are images of one channel. `shrink` is for quick runs:
average pooling of so many by so many pixels.

LeCun et al., "Gradient-Based Learning Applied to Document Recognition"; Jiang et al., "Training on Fake Labels",
say "a CNN" and no more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

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
    """Convolutional network: 3 x 3 convolutions with `channels` and twice as many channels, cut at `width` units."""

    limits: ClassVar[Limits] = {"width": (1, None), "channels": (1, None), "shrink": (1, None)}

    width: int = 128
    channels: int = 32
    shrink: int = 1

    def encode(self, features: np.ndarray, inputs: Inputs) -> dict[str, torch.Tensor]:
        """Images (B, C, H, W) float32 in [0, 1], as `images`."""
        scale, shape = np.float32(inputs.scale), (-1, *_image(inputs))

        def images(some: np.ndarray) -> torch.Tensor:
            return torch.from_numpy((some.astype(np.float32) / scale).reshape(shape))

        return {"images": shrunk(features, self.shrink, images).contiguous(memory_format=LAYOUT)}

    def bottom(self, inputs: Inputs) -> torch.nn.Module:
        """The feature party's model: two convolutions and a linear layer to the cut."""
        channels, height, width = _image(inputs)
        bottom = Bottom(self, (channels, height // self.shrink, width // self.shrink))
        return bottom.to(memory_format=LAYOUT)  # type: ignore[call-overload]

    def top(self, inputs: Inputs, outputs: int) -> torch.nn.Module:
        """The label party's model: two linear layers."""
        return Top(self, outputs)


def _image(inputs: Inputs) -> tuple[int, int, int]:
    """Channels, height and width of an example's image."""
    if len(inputs.shape) == 3:
        channels, height, width = inputs.shape
        return channels, height, width
    side = math.isqrt(inputs.shape[0])
    if len(inputs.shape) != 1 or side * side != inputs.shape[0]:
        raise InputError("model.cnn", f"an example has the shape {inputs.shape}", "an image, or d x d numbers")
    return 1, side, side


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
    """Two linear layers from the cut to the logits."""

    def __init__(self, model: Cnn, outputs: int) -> None:
        super().__init__()
        self.hidden, self.last = nn.Linear(model.width, model.width), nn.Linear(model.width, outputs)

    def forward(self, hidden: Tensor, x: dict[str, Tensor]) -> Tensor:
        return self.last(torch.relu(self.hidden(hidden)))
