"""Distances between the embeddings of a batch, for penalties on them."""

from __future__ import annotations

import torch
from torch import Tensor


def distances(rows: Tensor) -> Tensor:
    """Euclidean distances (B, B) between rows (B, d); where two rows are equal the gradient is 0."""
    return torch.cdist(rows, rows, compute_mode="donot_use_mm_for_euclid_dist")
