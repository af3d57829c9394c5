"""Average pooling of images in chunks, which limits the memory that full-sized images take."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d

AT_ONCE = 128


def shrunk(features: np.ndarray, pixels: int, images: Callable[[np.ndarray], Tensor]) -> Tensor:
    """Average-pooled images (n, C, H / pixels, W / pixels); `images` maps features (n, ...) to images (n, C, H, W)."""
    parts = (images(features[i : i + AT_ONCE]) for i in range(0, max(1, len(features)), AT_ONCE))
    return torch.cat([avg_pool2d(part, pixels) if pixels > 1 else part for part in parts])
