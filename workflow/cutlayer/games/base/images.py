"""Images as the models take them: a few at a time, for what is shrunk is many times larger than what comes of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d

AT_ONCE = 128


def shrunk(features: np.ndarray, pixels: int, images: Callable[[np.ndarray], Tensor]) -> Tensor:
    """(n, C, H / pixels, W / pixels): means of squares of pixels of the `images` (n, C, H, W) of features (n, ...)."""
    parts = (images(features[i : i + AT_ONCE]) for i in range(0, max(1, len(features)), AT_ONCE))
    return torch.cat([avg_pool2d(part, pixels) if pixels > 1 else part for part in parts])
