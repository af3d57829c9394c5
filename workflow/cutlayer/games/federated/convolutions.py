"""Convolutions of many networks at once, each with weights of its own.

On a CPU this is one grouped convolution with a group for each member. On a GPU, where grouped convolutions are slow, it
is a batched matrix product of each member's weights and its images' unfolded windows.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import conv2d, pad

Pair = tuple[int, int]


def convolved(x: Tensor, weight: Tensor, bias: Tensor, padding: Pair) -> Tensor:
    """Convolved images (D, B, O, H', W') of (D, B, C, H, W), by weights (D, O, C, h, w) and biases (D, O), stride 1."""
    way = by_products if x.device.type == "cuda" else by_groups
    return way(x, weight, bias, padding)


def by_groups(x: Tensor, weight: Tensor, bias: Tensor, padding: Pair) -> Tensor:
    """`convolved` by one grouped convolution."""
    images = conv2d(joined(x), weight.flatten(0, 1), bias.flatten(), padding=padding, groups=len(x))
    return images.unflatten(1, (len(x), -1)).transpose(0, 1)


def by_products(x: Tensor, weight: Tensor, bias: Tensor, padding: Pair) -> Tensor:
    """`convolved` by batched matrix products."""
    return Products.apply(x, weight, bias, padding)


def joined(x: Tensor) -> Tensor:
    """Images (B, D C, H, W) with all members' channels, from (D, B, C, H, W); no copy after `by_groups`."""
    return x.transpose(0, 1).flatten(1, 2)


class Products(torch.autograd.Function):
    """Convolution and its gradients as matrix products; torch's own gradient of unfolded windows is slower."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, padding: Pair) -> Tensor:
        """The convolved images."""
        seen, sides = _windows(x, weight, padding)
        ctx.save_for_backward(seen, weight)
        ctx.padding = padding
        return _images(torch.baddbmm(bias.unsqueeze(2), weight.flatten(2), seen), sides)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, Tensor, None]:
        """The gradients of the images, the weights and the biases."""
        seen, weight = ctx.saved_tensors
        flat = gradient.transpose(1, 2).flatten(2)
        of_weight = torch.bmm(flat, seen.transpose(1, 2)).view_as(weight)
        of_x = None
        if ctx.needs_input_grad[0]:  # a convolution with the kernels turned by 180 degrees
            turned = weight.flip(3, 4).transpose(1, 2)
            height, width = (size - 1 - own for size, own in zip(weight.shape[3:], ctx.padding, strict=True))
            seen, sides = _windows(gradient, turned, (height, width))
            of_x = _images(torch.bmm(turned.flatten(2), seen), sides)
        return of_x, of_weight, flat.sum(2), None


def _windows(x: Tensor, weight: Tensor, padding: Pair) -> tuple[Tensor, tuple[int, int, int]]:
    """Unfolded windows (D, C h w, B H' W') of the images for kernels of weights (D, O, C, h, w); B, H' and W'."""
    (height, width), (above, beside) = weight.shape[3:], padding
    windows = pad(x, (beside, beside, above, above)).unfold(3, height, 1).unfold(4, width, 1)
    _, batch, _, rows, columns, _, _ = windows.shape
    return windows.permute(0, 2, 5, 6, 1, 3, 4).flatten(4).flatten(1, 3), (batch, rows, columns)


def _images(products: Tensor, sides: tuple[int, int, int]) -> Tensor:
    """Images (D, B, O, H', W') of matrix products (D, O, B H' W')."""
    return products.unflatten(2, sides).transpose(1, 2)
