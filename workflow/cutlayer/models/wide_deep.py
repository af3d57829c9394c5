"""wide_deep: a linear model beside a deep one on embedded categories, cut in the middle of the deep part.

The feature party embeds the categories and computes the first layers of the deep part; the label party has the
last ones and the whole wide part, a linear function of the features themselves with one number for each category (the
official code's dimension of 1), which every logit weighs if there are several. Counts enter as log(1 + x), a missing or
negative count as 0. A category is its code modulo `buckets`.

Cheng et al., "Wide & Deep Learning for Recommender Systems"; cut as in Li et al., "Label Leakage and Protection in
Two-party Split Learning", 5.1.
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
class WideDeep(Model):
    """`bottom_layers` ReLU layers, the cut, `top_layers` layers of which the last is linear, plus the wide part."""

    protocols: ClassVar[set[str]] = {"split"}
    limits: ClassVar[Limits] = {
        "width": (1, None), "bottom_layers": (1, None), "top_layers": (1, None), "buckets": (1, None),
        "embedding": (1, None),
    }  # fmt: skip

    width: int = 128
    bottom_layers: int = 4
    top_layers: int = 2
    buckets: int = 10_000  # rows of a category's table
    embedding: int = 4

    def encode(self, features: np.ndarray, inputs: Inputs) -> dict[str, torch.Tensor]:
        """`numeric` (B, n) float32 and `codes` (B, c) int64, each column's codes in a range of its own."""
        import torch

        counts = np.log1p(np.maximum(features[:, inputs.numeric], 0)).astype(np.float32)
        codes = features[:, inputs.categorical].astype(np.int64) % self.buckets
        codes += self.buckets * np.arange(len(inputs.categorical))
        return {"numeric": torch.from_numpy(counts), "codes": torch.from_numpy(codes)}

    def bottom(self, inputs: Inputs) -> torch.nn.Module:
        """Embeddings and the first layers of the deep part."""
        return _parts().Bottom(self, inputs)

    def top(self, inputs: Inputs, outputs: int) -> torch.nn.Module:
        """The last layers of the deep part and the wide part."""
        return _parts().Top(self, inputs, outputs)


def _parts():  # type: ignore[no-untyped-def]  # torch is imported late
    from . import _wide_deep_parts

    return _wide_deep_parts
