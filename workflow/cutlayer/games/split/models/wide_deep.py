"""wide_deep: a Wide & Deep network for click logs, cut in the middle of the deep part.

The feature party embeds the categories and computes the first layers of the deep part; the label party has the
last ones and the whole wide part, a linear function of the features with one weight for each category (the official
code's dimension of 1), which every logit weighs if there are several. Counts enter as log(1 + x), a missing or negative
count as 0. A category is its code modulo `buckets`. With `wide` false the label party has no features and no wide part,
so that the model's utility is that of the feature party's part.

Cheng et al., "Wide & Deep Learning for Recommender Systems"; cut as in Li et al., "Label Leakage and Protection in
Two-party Split Learning", 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from cutlayer.core.limits import Limits
from cutlayer.games.split.model import Inputs, Model

from ._tables import rows, sums


@dataclass(frozen=True)
class WideDeep(Model):
    """Wide & Deep: `bottom_layers` ReLU layers, the cut, `top_layers` layers, the last linear, and the wide part."""

    limits: ClassVar[Limits] = {
        "width": (1, None), "bottom_layers": (1, None), "top_layers": (1, None), "buckets": (1, None),
        "embedding": (1, None),
    }  # fmt: skip

    width: int = 128
    bottom_layers: int = 4
    top_layers: int = 2
    buckets: int = 10_000  # rows of a category's table
    embedding: int = 4
    wide: bool = True  # whether the label party has a wide part

    def encode(self, features: np.ndarray, inputs: Inputs) -> dict[str, torch.Tensor]:
        """Log counts `numeric` (B, n) float32 and hashed categories `codes` (B, c) int64, disjoint between columns."""

        counts = np.log1p(np.maximum(features[:, inputs.numeric], 0)).astype(np.float32)
        codes = features[:, inputs.categorical].astype(np.int64) % self.buckets
        codes += self.buckets * np.arange(len(inputs.categorical))
        return {"numeric": torch.from_numpy(counts), "codes": torch.from_numpy(codes)}

    def bottom(self, inputs: Inputs) -> torch.nn.Module:
        """The feature party's model: embeddings and the first layers of the deep part."""
        return Bottom(self, inputs)

    def top(self, inputs: Inputs, outputs: int) -> torch.nn.Module:
        """The label party's model: the last layers of the deep part and, if there is one, the wide part."""
        return Top(self, inputs, outputs)


class Bottom(nn.Module):
    """Embeddings of the categories and the first layers of the deep part."""

    def __init__(self, model: WideDeep, inputs: Inputs) -> None:
        super().__init__()
        categories = len(inputs.categorical)
        self.embedding = nn.Embedding(max(1, categories * model.buckets), model.embedding)
        nn.init.normal_(self.embedding.weight, std=0.05)
        self.first = nn.Linear(len(inputs.numeric) + categories * model.embedding, model.width)
        more = [nn.Linear(model.width, model.width) for _ in range(model.bottom_layers - 1)]
        self.rest = nn.ModuleList(more)

    def forward(self, x: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        embedded = rows(self.embedding.weight, x["codes"]).flatten(1)
        first = torch.relu(self.first(torch.cat([x["numeric"], embedded], dim=1)))
        hidden = first
        for layer in self.rest:
            hidden = torch.relu(layer(hidden))
        return first, hidden


class Top(nn.Module):
    """The last layers of the deep part and, if there is one, the wide part: a linear function of the features.

    With one logit the two are added. With more, each logit has its own weight on the wide part's output, so that its
    table stays as small.
    """

    def __init__(self, model: WideDeep, inputs: Inputs, outputs: int) -> None:
        super().__init__()
        self.hidden = nn.ModuleList(nn.Linear(model.width, model.width) for _ in range(model.top_layers - 1))
        self.last = nn.Linear(model.width, outputs)
        self.wide = model.wide
        if not self.wide:
            return
        self.wide_numeric = nn.Parameter(torch.zeros(len(inputs.numeric)))
        self.wide_codes = nn.Parameter(torch.zeros(max(1, len(inputs.categorical) * model.buckets), 1))
        self.weighs = nn.Linear(1, outputs, bias=False) if outputs > 1 else nn.Identity()

    def forward(self, hidden: Tensor, x: dict[str, Tensor]) -> Tensor:
        for layer in self.hidden:
            hidden = torch.relu(layer(hidden))
        if not self.wide:
            return self.last(hidden)
        wide = (x["numeric"] @ self.wide_numeric)[:, None]
        if x["codes"].shape[1]:
            wide = wide + sums(self.wide_codes, x["codes"])
        return self.last(hidden) + self.weighs(wide)
