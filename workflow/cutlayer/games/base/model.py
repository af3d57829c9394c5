"""What the contracts of all games' models share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import torch

from cutlayer.core.limits import Limits


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
    """Base of all models; the fields of a subclass are its hyper-parameters."""

    games: ClassVar[set[str]] = set()  # each game's contract says its own
    limits: ClassVar[Limits] = {}


@dataclass(frozen=True)
class CutModel(Model):
    """A model in two parts: `bottom` up to the cut, `top` after it.

    Both draw their first weights from torch's global generator, which the protocol seeds.
    """

    def encode(self, features: np.ndarray, inputs: Inputs) -> dict[str, torch.Tensor]:
        """Rows of a table (B, ...) as the tensors that both parts take."""
        raise missing(self, "encode")

    def bottom(self, inputs: Inputs) -> torch.nn.Module:
        """Encoded rows -> (activation of the first layer (B, ...), embedding (B, d))."""
        raise missing(self, "bottom")

    def top(self, inputs: Inputs, outputs: int) -> torch.nn.Module:
        """(embedding (B, d), encoded rows) -> logits (B, outputs)."""
        raise missing(self, "top")


def missing(model: Model, hook: str) -> TypeError:
    """What a contract raises in place of a hook that every model defines."""
    return TypeError(f"model.{type(model).__name__}: has no `{hook}`; every model of its game defines it")
