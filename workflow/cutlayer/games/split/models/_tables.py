"""Rows of a table looked up by code, with a gradient that costs what the looked-up rows cost.

torch's own dense gradients of embeddings sort the codes first: at 26,624 codes that is most of a training step. Here
the gradient is the product of a sparse matrix of zeros and ones with what comes back, which scipy does row by row in
order. On a GPU torch's own are taken.
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
    """(B, c, K): the rows of a table (F, K) that codes (B, c) name."""
    return functional.embedding(codes, table) if codes.is_cuda else _Rows.apply(table, codes)


def sums(table: Tensor, codes: Tensor) -> Tensor:
    """(B, K): the sums over c of `rows`."""
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
    """(size, K): at each code the sum of the rows of a gradient (n, K) whose codes (n, c) have it."""
    count, each = codes.shape
    ones, ends = np.ones(codes.numel(), dtype=np.float32), np.arange(0, codes.numel() + 1, each)
    where = csc_array((ones, codes.flatten().numpy(), ends), shape=(size, count))
    return torch.from_numpy(where @ gradient.numpy())
