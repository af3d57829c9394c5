"""Embedding lookups with fast gradients on a CPU.

torch's own dense gradients of embeddings sort the codes first: at 26,624 codes that is most of a training step. Here
the gradient is the product of a sparse matrix of zeros and ones with the incoming gradient, which scipy computes row by
row in order. A GPU uses torch's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy.sparse import csc_array
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional


def rows(table: Tensor, codes: Tensor) -> Tensor:
    """Embeddings (B, c, K): the rows of a table (F, K) at the codes (B, c)."""
    return functional.embedding(codes, table) if codes.is_cuda else _Rows.apply(table, codes)


def sums(table: Tensor, codes: Tensor) -> Tensor:
    """Summed embeddings (B, K) of the codes (B, c) of each row."""
    return functional.embedding_bag(codes, table, mode="sum") if codes.is_cuda else _Sums.apply(table, codes)


class _Rows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, codes: Tensor) -> Tensor:
        ctx.codes, ctx.size = codes, len(table)
        return functional.embedding(codes, table)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return _gathered(ctx.codes.reshape(-1, 1), gradient.flatten(0, 1), ctx.size), None


class _Sums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, codes: Tensor) -> Tensor:
        ctx.codes, ctx.size = codes, len(table)
        return functional.embedding_bag(codes, table, mode="sum")

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return _gathered(ctx.codes, gradient, ctx.size), None


def _gathered(codes: Tensor, gradient: Tensor, size: int) -> Tensor:
    """Gradient (size, K) of the table: at each code the sum of the rows of (n, K) whose codes (n, c) contain it."""
    count, each = codes.shape
    ones, ends = np.ones(codes.numel(), dtype=np.float32), np.arange(0, codes.numel() + 1, each)
    where = csc_array((ones, codes.flatten().numpy(), ends), shape=(size, count))
    return torch.from_numpy(where @ gradient.numpy())
