"""Rows as a model of two parts takes them: tensors by name, one row an example."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from torch import Tensor

Encoded = Mapping[str, Tensor]
ROWS = 1024
KEPT = 2**27  # numbers of the features that are encoded once for all steps of a training: half a gigabyte


def parts(features: Encoded, places: np.ndarray) -> Iterator[dict[str, Tensor]]:
    """Some rows, ROWS at a time, for what a model remembers of images takes room."""
    return (take(features, places[i : i + ROWS]) for i in range(0, len(places), ROWS))


def take(features: Encoded, places: np.ndarray) -> dict[str, Tensor]:
    """Some rows."""
    rows = torch.from_numpy(places)
    return {name: tensor[rows.to(tensor.device)] for name, tensor in features.items()}
