"""The contract of a model that a protocol trains."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import torch


@dataclass(frozen=True)
class Inputs:
    """What a model needs to know of its data before it sees a row."""

    shape: list[int]  # of one example
    numeric: list[int]  # places of the numeric columns; empty for images
    categorical: list[int]  # places of the columns that hold codes
    scale: float  # the largest value a feature can have, for images
    # For models that standardize: each numeric column's mean and standard deviation, each categorical one's levels.
    center: list[float] = field(default_factory=list)
    spread: list[float] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Model:
    """Base of all models; the fields of a subclass are its hyper-parameters.

    A model of the split protocol is cut in two: `bottom` is the feature party's, `top` the label party's.
    Both draw their first weights from torch's global generator, which the protocol seeds.
    """

    protocols: ClassVar[set[str]] = {"vertical"}

    def encode(self, features: np.ndarray, inputs: Inputs) -> dict[str, torch.Tensor]:
        """Rows of a table (B, ...) as the tensors that both parts take."""
        raise InputError(f"model.{type(self).__name__}", "has no `encode`", "models of the split protocol define it")

    def bottom(self, inputs: Inputs) -> torch.nn.Module:
        """Encoded rows -> (activation of the first layer (B, ...), embedding (B, d))."""
        raise InputError(f"model.{type(self).__name__}", "has no `bottom`", "models of the split protocol define it")

    def top(self, inputs: Inputs, outputs: int) -> Any:
        """(embedding (B, d), encoded rows) -> logits (B, outputs)."""
        raise InputError(f"model.{type(self).__name__}", "has no `top`", "models of the split protocol define it")
