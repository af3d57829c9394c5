"""The two parts of `wide_deep` as torch modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from ._tables import rows, sums

if TYPE_CHECKING:
    from .base import Inputs
    from .wide_deep import WideDeep


class Bottom(nn.Module):
    """Embeds the categories and runs the first layers."""

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
    """The last layers on the embedding, plus the wide part: one linear function of the features.

    With one logit the two are added. With more each logit weighs the wide part's number in its own way, so that its
    table stays as large as it was.
    """

    def __init__(self, model: WideDeep, inputs: Inputs, outputs: int) -> None:
        super().__init__()
        self.hidden = nn.ModuleList(nn.Linear(model.width, model.width) for _ in range(model.top_layers - 1))
        self.last = nn.Linear(model.width, outputs)
        self.wide_numeric = nn.Parameter(torch.zeros(len(inputs.numeric)))
        self.wide_codes = nn.Parameter(torch.zeros(max(1, len(inputs.categorical) * model.buckets), 1))
        self.weighs = nn.Linear(1, outputs, bias=False) if outputs > 1 else nn.Identity()

    def forward(self, hidden: Tensor, x: dict[str, Tensor]) -> Tensor:
        for layer in self.hidden:
            hidden = torch.relu(layer(hidden))
        wide = (x["numeric"] @ self.wide_numeric)[:, None]
        if x["codes"].shape[1]:
            wide = wide + sums(self.wide_codes, x["codes"])
        return self.last(hidden) + self.weighs(wide)
