"""Stacks of many small networks of one architecture, each applied to its own batch.

The devices of a federated round train the same layers on batches of ten rows; one batched product for all of them costs
little more than one device's. A stack holds its members' parameters in common tensors, so that a step of plain gradient
descent on the sum of the members' losses is a step of each member on its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn.functional import max_pool2d

from cutlayer.core.errors import InputError

from .convolutions import convolved, joined


class Stack(nn.Module):
    """A stack of D networks with the layers of one `nn.Sequential`: (D, B, ...) -> (D, B, ...).

    Layers may be `Linear`, `Conv2d` (one group, stride 1, padding in pixels), `ReLU`, `MaxPool2d` and `Flatten`.

    Raises:
        InputError: the network has a layer of another kind.

    """

    def __init__(self, network: nn.Sequential, members: int) -> None:
        super().__init__()
        self.members, self.layers = members, list(network)  # in a list: their own parameters are not the stack's
        for layer in self.layers:
            if not isinstance(layer, nn.Linear | nn.Conv2d | nn.ReLU | nn.MaxPool2d | nn.Flatten):
                allowed = "Linear, Conv2d, ReLU, MaxPool2d or Flatten"
                raise InputError("stacked.Stack", f"has no {type(layer).__name__}", allowed)
        copies = (
            turned(value.detach().expand(members, *value.shape)).clone(memory_format=torch.contiguous_format)
            for value in network.parameters()
        )
        self.values = nn.ParameterList(copies)

    def forward(self, x: Tensor) -> Tensor:
        """Each member's output on its own batch."""
        values = iter(self.values)
        for layer in self.layers:
            x = _applied(layer, x, values)
        return x

    def flattened(self) -> Tensor:
        """Each member's parameters (D, P), in the order of the network's `state_dict`."""
        return torch.cat([turned(value.detach()).flatten(1) for value in self.values], dim=1)

    @torch.no_grad()
    def load(self, parameters: Tensor) -> None:
        """Load the members' parameters (D, P), or the same parameters (P,) for all members."""
        sizes = [value[0].numel() for value in self.values]
        for value, part in zip(self.values, parameters.split(sizes, dim=-1), strict=True):
            turned(value).copy_(part.reshape(*part.shape[:-1], *turned(value).shape[1:]))


def turned(value: Tensor) -> Tensor:
    """Transpose matrices (D, outputs, inputs) to the layout of a stack, (D, inputs, outputs), or back.

    Gradients then come in the layout of the parameters, which saves a copy that takes as long as the products.
    """
    return value.transpose(1, 2) if value.ndim == 3 else value


def _applied(layer: nn.Module, x: Tensor, values: Iterator[Tensor]) -> Tensor:
    """Apply one layer of all members; its parameters, if any, are the next of `values`."""
    if isinstance(layer, nn.Linear):
        weight, bias = itertools.islice(values, 2)
        return torch.baddbmm(bias.unsqueeze(1), x, weight)
    if isinstance(layer, nn.Conv2d):
        weight, bias = itertools.islice(values, 2)
        return convolved(x, weight, bias, layer.padding)  # type: ignore[arg-type]  # not a word
    if isinstance(layer, nn.MaxPool2d):
        return max_pool2d(joined(x), layer.kernel_size).unflatten(1, (len(x), -1)).transpose(0, 1)
    return x.flatten(2) if isinstance(layer, nn.Flatten) else torch.relu(x)
