"""Rows as a model of two parts takes them: tensors by name, one row an example."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .model import Inputs

Encoded = Mapping[str, Tensor]
ROWS = 1024
KEPT = 2**27  # numbers that are encoded once for all steps of a training: half a gigabyte


@dataclass(frozen=True, kw_only=True)
class EncodedRows:
    """Rows of a table as a model takes them."""

    features: np.ndarray  # (N, ...) of the whole table
    train: np.ndarray  # (n,) rows that train
    model: Any  # of the game's contract
    inputs: Inputs
    device: str

    def encode_table(self, rows: np.ndarray) -> dict[str, Tensor]:
        """What the model takes, of some rows of the table."""
        encoded = self.model.encode(self.features[rows], self.inputs)
        return {name: tensor.to(self.device) for name, tensor in encoded.items()}


@dataclass(frozen=True, kw_only=True)
class EncodedOnce(EncodedRows):
    """The same for the steps of a training: rows that train are encoded once, if they are not too many to be kept."""

    def encode(self, rows: Tensor) -> dict[str, Tensor]:
        """What the models take, of some training rows: places (B,) among them."""
        if self._encoded:
            return {name: picked(tensor, rows) for name, tensor in self._encoded.items()}
        return self.encode_table(self.train[rows.cpu().numpy()])

    @cached_property
    def _encoded(self) -> dict[str, Tensor]:
        """Of all training rows; nothing if they are too many."""
        numbers = sum(tensor.numel() for tensor in self.encode_table(self.train[:1]).values())
        return self.encode_table(self.train) if numbers * len(self.train) <= KEPT else {}


def parts(features: Encoded, places: np.ndarray) -> Iterator[dict[str, Tensor]]:
    """Some rows, ROWS at a time, for what a model remembers of images takes room."""
    return (take(features, places[i : i + ROWS]) for i in range(0, len(places), ROWS))


def take(features: Encoded, places: np.ndarray) -> dict[str, Tensor]:
    """Some rows."""
    rows = torch.from_numpy(places)
    return {name: picked(tensor, rows) for name, tensor in features.items()}


def picked(tensor: Tensor, rows: Tensor) -> Tensor:
    """(B, ...): some rows (B,) of (n, ...); of images `tensor[rows]` would take several times as long."""
    return tensor.index_select(0, rows.to(tensor.device))
