"""strided_cnn: three convolutions of stride 2 up to the cut, one more and four linear layers after it, for images.

What is sent has mean 0 and variance 1 in each channel over a batch (a normalization without scale and shift): noise of
a fixed size then means something.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", 6.1; strides, widths and the
normalizations are ours.
"""

from __future__ import annotations

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
    limits: ClassVar[Limits] = {"channels": (1, None)}

    channels: int = 32

    def encode(self, features: np.ndarray, inputs: Inputs) -> dict[str, torch.Tensor]:
        """`images` (B, C, H, W) float32 from 0 to 1."""
        import torch

        return {"images": torch.from_numpy(features.astype(np.float32) / np.float32(inputs.scale))}

    def bottom(self, inputs: Inputs) -> torch.nn.Module:
        """Three convolutions."""
        _image(inputs)
        return _parts().Bottom(self, inputs.shape[0])

    def top(self, inputs: Inputs, outputs: int) -> torch.nn.Module:
        """A convolution and four linear layers."""
        return _parts().Top(self, _image(inputs), outputs)


def _image(inputs: Inputs) -> tuple[int, int]:
    """Height and width at the cut."""
    if len(inputs.shape) != 3:
        raise InputError("model.strided_cnn", f"an example has the shape {inputs.shape}", "an image is meant")
    _, height, width = inputs.shape
    return -(-height // 8), -(-width // 8)


def _parts():  # type: ignore[no-untyped-def]  # torch is imported late
    from . import _strided_cnn_parts

    return _strided_cnn_parts
