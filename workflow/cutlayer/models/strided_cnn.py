"""strided_cnn: three convolutions of stride 2 up to the cut, one more and four linear layers after it, for images.

`shrink` is for quick runs: means of squares of so many pixels. What is sent has mean 0 and variance 1 in each channel
over a batch (a normalization without scale and shift): noise of a fixed size then means something.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", 6.1; strides, widths and the
normalizations are ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..errors import InputError
from ..limits import Limits
from .base import Inputs, Model

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class StridedCnn(Model):
    """Convolutions with c, 2 c, 2 c `channels`, the cut, one with 4 c, linear layers of 16 c, 8 c, 2 c and outputs."""

    protocols: ClassVar[set[str]] = {"split_server"}
    limits: ClassVar[Limits] = {"channels": (1, None), "shrink": (1, None)}

    channels: int = 32
    shrink: int = 1

    def encode(self, features: np.ndarray, inputs: Inputs) -> dict[str, torch.Tensor]:
        """`images` (B, C, H, W) float32 from 0 to 1."""
        import torch
        from torch.nn.functional import avg_pool2d

        images = torch.from_numpy(features.astype(np.float32) / np.float32(inputs.scale))
        return {"images": avg_pool2d(images, self.shrink) if self.shrink > 1 else images}

    def bottom(self, inputs: Inputs) -> torch.nn.Module:
        """Three convolutions."""
        _image(inputs)
        return _parts().Bottom(self, inputs.shape[0])

    def top(self, inputs: Inputs, outputs: int) -> torch.nn.Module:
        """A convolution and four linear layers."""
        height, width = _image(inputs)
        return _parts().Top(self, (math.ceil(height // self.shrink / 8), math.ceil(width // self.shrink / 8)), outputs)


def _image(inputs: Inputs) -> tuple[int, int]:
    """Height and width."""
    if len(inputs.shape) != 3:
        raise InputError("model.strided_cnn", f"an example has the shape {inputs.shape}", "an image is meant")
    _, height, width = inputs.shape
    return height, width


def _parts():  # type: ignore[no-untyped-def]  # torch is imported late
    from . import _strided_cnn_parts

    return _strided_cnn_parts
