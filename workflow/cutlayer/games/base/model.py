"""Base classes of models, and what a model needs to know of its data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import torch

from cutlayer.core.limits import Limits


@dataclass(frozen=True)
class Inputs:
    """Schema and statistics of the data that a model is built for."""

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
    """A model architecture; the fields of a subclass are its hyper-parameters."""

    games: ClassVar[set[str]] = set()  # each game's base class declares its own
    limits: ClassVar[Limits] = {}


@dataclass(frozen=True)
class CutModel(Model):
    """A split model: `bottom` up to the cut, `top` after it.

    Both initialize their weights from torch's global generator, which the protocol seeds.
    """

    def encode(self, features: np.ndarray, inputs: Inputs) -> dict[str, torch.Tensor]:
        """Encoded rows: the tensors that both parts take, from rows of a table (B, ...)."""
        raise missing(self, "encode")

    def bottom(self, inputs: Inputs) -> torch.nn.Module:
        """The bottom model: encoded rows -> (activation of the first layer (B, ...), embedding (B, d))."""
        raise missing(self, "bottom")

    def top(self, inputs: Inputs, outputs: int) -> torch.nn.Module:
        """The top model: (embedding (B, d), encoded rows) -> logits (B, outputs)."""
        raise missing(self, "top")


def missing(model: Model, hook: str) -> TypeError:
    """The error of a model that lacks a hook which every model of its game defines."""
    return TypeError(f"model.{type(model).__name__}: has no `{hook}`; every model of its game defines it")
