"""The feature party, honest or malicious; a malicious one deviates from the training in two ways.

- `optimizer: malicious`: its bottom model takes larger steps, so that the top model leans on it and it learns more of
  the labels, for model completion. With v the mean of past gradients, a coordinate's step is multiplied by
  r = clip(1 + gamma v / (v of the last step + 1e-7), 1, ratio_max). v of the last step is the scaled one; with
  `compound`, as in the official code, the mean itself is scaled too, so that r compounds over steps. The code scales
  steps of gradient descent with momentum. Adam would cancel a scaled gradient, so r scales Adam's step; v is its first
  moment. A label party that watches norms (Yan et al., "LADSG") is not built.
- `extend`: beside each embedding it sends as many numbers N(0, scale^2), drawn once for a row; the label party takes
  the wider cut for that of the bottom model. Distances at the cut are then mostly noise, so that a penalty on them
  measures little, whatever the embeddings leak.

Fu et al., "Label Inference Attacks Against Vertical Federated Learning": the active attack.
The extension is ours: He et al., "LabObf", name an embedding extension attack, of which only the abstract was read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor
from torch.optim import Adam

from cutlayer.core.errors import InputError

from .model import Model

TINY = 1e-7  # of the official code


@dataclass(frozen=True)
class FeatureParty:
    """What a setup says of the feature party; the default is honest."""

    optimizer: Literal["adam", "malicious"] = "adam"
    gamma: float = 1.0
    ratio_max: float = 5.0
    compound: bool = False
    extend: int = 0  # columns
    scale: float = 1.0

    def adam(self, bottom: Sequence[Tensor], top: Sequence[Tensor], rate: float) -> Adam:
        """The optimizer of both parties' parameters."""
        if self.optimizer == "adam":
            return Adam([*bottom, *top], rate, fused=True)
        return MaliciousAdam(bottom, top, rate, self)

    def extended(self, model: Model) -> Model:
        """The model whose top takes the extended embeddings: one that is wider by the columns added."""
        if not self.extend:
            return model
        width: Any = getattr(model, "width", None)
        if width is None:
            name = f"model.{type(model).__name__}"
            raise InputError(name, "has no `width`, so that no top takes extended embeddings", "expected one that has")
        return replace(model, width=width + self.extend)  # type: ignore[call-arg]


class Sender:
    """Sends embeddings, extended if the feature party extends them."""

    def __init__(self, own: FeatureParty, rows: int, generator: torch.Generator, device: str) -> None:
        """`rows`: of training."""
        self._own, self._generator, self._device = own, generator, device
        self._drawn = self._noise(rows)

    def __call__(self, embedding: Tensor, places: Tensor | None = None) -> Tensor:
        """Extended embeddings (B, d + extend): of the training rows at `places` (B,), or of new rows."""
        if not self._own.extend:
            return embedding
        beside = self._noise(len(embedding)) if places is None else self._drawn[places]
        return torch.cat([embedding, beside], dim=1)

    def _noise(self, rows: int) -> Tensor:
        return self._own.scale * torch.randn(rows, self._own.extend, generator=self._generator).to(self._device)


class MaliciousAdam(Adam):
    """Adam whose steps of the bottom model's parameters are scaled."""

    def __init__(self, bottom: Sequence[Tensor], top: Sequence[Tensor], rate: float, own: FeatureParty) -> None:
        super().__init__([*bottom, *top], rate, fused=True)
        self._own, self._bottom, self._last = own, bottom, list[Tensor]()

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """Take Adam's step, and the rest of it where it is scaled."""
        before = [parameter.clone() for parameter in self._bottom]
        super().step()
        moments = [self.state[parameter]["exp_avg"] for parameter in self._bottom]
        ratios = list(self._ratios(moments))
        for parameter, old, ratio in zip(self._bottom, before, ratios, strict=True):
            parameter.add_((ratio - 1) * (parameter - old))
        self._last = [moment * ratio for moment, ratio in zip(moments, ratios, strict=True)]
        if self._own.compound:
            torch._foreach_copy_(moments, self._last)

    def _ratios(self, moments: Sequence[Tensor]) -> Iterator[Tensor]:
        for moment, last in zip(moments, self._last or moments, strict=True):
            ratio = 1 + self._own.gamma * moment / (last + TINY)
            yield ratio.clamp(1, self._own.ratio_max) if self._last else torch.ones_like(ratio)
