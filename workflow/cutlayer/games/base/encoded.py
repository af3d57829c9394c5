"""Encoded rows: the tensors, by name, that a model takes as input, with one row for each example."""

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
KEPT = 2**27  # numbers that are encoded once for a whole training: half a gigabyte


@dataclass(frozen=True, kw_only=True)
class EncodedRows:
    """Encodes rows of a table for a model."""

    features: np.ndarray  # (N, ...) of the whole table
    train: np.ndarray  # (n,) training rows
    model: Any  # of the game's base class
    inputs: Inputs
    device: str

    def encode_table(self, rows: np.ndarray) -> dict[str, Tensor]:
        """The encoded rows of a table."""
        encoded = self.model.encode(self.features[rows], self.inputs)
        return {name: tensor.to(self.device) for name, tensor in encoded.items()}


@dataclass(frozen=True, kw_only=True)
class EncodedOnce(EncodedRows):
    """Encodes the training rows once for a whole training, unless they are too many to be kept."""

    def encode(self, rows: Tensor) -> dict[str, Tensor]:
        """The encoded training rows at places (B,) among them."""
        if self._encoded:
            return {name: picked(tensor, rows) for name, tensor in self._encoded.items()}
        return self.encode_table(self.train[rows.cpu().numpy()])

    @cached_property
    def _encoded(self) -> dict[str, Tensor]:
        """All encoded training rows; empty if they are too many."""
        numbers = sum(tensor.numel() for tensor in self.encode_table(self.train[:1]).values())
        return self.encode_table(self.train) if numbers * len(self.train) <= KEPT else {}


def parts(features: Encoded, places: np.ndarray) -> Iterator[dict[str, Tensor]]:
    """Encoded rows in chunks of ROWS, as the activations of images take much memory."""
    return (take(features, places[i : i + ROWS]) for i in range(0, len(places), ROWS))


def take(features: Encoded, places: np.ndarray) -> dict[str, Tensor]:
    """The encoded rows at some places."""
    rows = torch.from_numpy(places)
    return {name: picked(tensor, rows) for name, tensor in features.items()}


def picked(tensor: Tensor, rows: Tensor) -> Tensor:
    """The rows (B,) of a tensor (n, ...), several times as fast as `tensor[rows]` for images."""
    return tensor.index_select(0, rows.to(tensor.device))
