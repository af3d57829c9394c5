"""Attribute decoders: networks with the classifier's architecture, and their training.

Chosen here, where papers have no more than "train a decoder": its inputs are standardized, by coordinate or by channel,
unless an attack asks for them as they are, since noise of any power may be on them; and a few rows are held out, by
whose loss the epoch is selected, since a decoder would otherwise overfit features with little information.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from cutlayer.core import devices
from cutlayer.core.descent import descend
from cutlayer.core.transcript import View
from cutlayer.games.base.encoded import picked
from cutlayer.games.base.snapshot import parsed

ROWS = 1024
Loss = Callable[[Tensor], Tensor]  # of the rows at these places (B,)


@dataclass(frozen=True)
class Recipe:
    """Hyper-parameters of a network's training."""

    epochs: int
    batch: int
    rate: float  # Adam's
    held: float  # share of the rows by which the epoch is selected; 0: the last epoch
    standardized: bool = True  # its inputs


class Standardized(nn.Module):
    """A network on standardized features (B, k) or (B, c, h, w): mean 0 and variance 1 by coordinate or channel."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network, self.mean, self.scale = network, torch.zeros(()), torch.ones(())

    def adapt(self, features: Tensor) -> None:
        """Standardize by the mean and variance of these features."""
        self.mean, self.scale = moments(features, {1})

    def forward(self, features: Tensor, *more: object) -> Tensor:
        """The network's output on the standardized features."""
        return self.network((features - self.mean) * self.scale, *more)


def moments(features: Tensor, kept: set[int]) -> tuple[Tensor, Tensor]:
    """Mean and 1 / standard deviation of features over all axes but the kept ones; 1 where they are constant."""
    axes = [axis for axis in range(features.ndim) if axis not in kept]
    variance = features.var(dim=axes, correction=0, keepdim=True)
    return features.mean(dim=axes, keepdim=True), torch.where(variance > 0, (variance + 1e-5).rsqrt(), 1.0)


def seeded(rng: np.random.Generator) -> AbstractContextManager[None]:
    """Context in which torch's own random draws, such as initial weights, are seeded by the given generator."""
    return devices.seeded(int(rng.integers(2**63)))


def tensor(array: np.ndarray, device: str) -> Tensor:
    """A tensor with a copy of an array of the view, which is read-only."""
    return torch.from_numpy(np.array(array)).to(device)


def fresh(view: View) -> Standardized:
    """An untrained decoder: a classifier of the attribute with the server's architecture."""
    model, inputs = parsed(view.architecture)
    with seeded(view.rng):
        return Standardized(model.top(inputs, int(view.values))).to(view.device)


def decoder(view: View, features: Tensor, attribute: Tensor, recipe: Recipe) -> Standardized:
    """A decoder trained on features (n, ...) and their attribute (n,)."""
    return fitted(fresh(view), features, attribute, recipe, view.rng)


def fitted(
    network: Standardized, features: Tensor, attribute: Tensor, recipe: Recipe, rng: np.random.Generator
) -> Standardized:
    """The network, trained on features (n, ...) and their attribute (n,)."""
    if recipe.standardized:
        network.adapt(features)

    def loss(rows: Tensor) -> Tensor:
        return cross_entropy(network(picked(features, rows), {}), attribute[rows])

    train(network, loss, len(features), recipe, rng)
    return network


def train(network: nn.Module, loss: Loss, count: int, recipe: Recipe, rng: np.random.Generator) -> None:
    """Train a network on rows 0 .. count - 1 with early stopping by held-out rows; leave it in evaluation mode."""
    held, rows = np.split(rng.permutation(count), [math.floor(recipe.held * count)])
    optimizer, least, best = torch.optim.Adam(network.parameters(), recipe.rate, fused=True), math.inf, None
    for _ in range(recipe.epochs):
        network.train()
        for batch in shuffled_batches(rows, recipe.batch, rng):
            descend(optimizer, loss(batch))
        network.eval()
        if len(held) and (now := _mean(loss, held)) < least:
            least, best = now, {name: value.clone() for name, value in network.state_dict().items()}
    if best is not None:
        network.load_state_dict(best)


def shuffled_batches(places: np.ndarray, size: int, rng: np.random.Generator) -> list[Tensor]:
    """One shuffled pass over all places, in balanced batches of at most `size`."""
    return [torch.from_numpy(part) for part in np.array_split(rng.permutation(places), math.ceil(len(places) / size))]


@torch.no_grad()
def _mean(loss: Loss, places: np.ndarray) -> float:
    return sum(float(loss(part)) * len(part) for part in torch.from_numpy(places).split(ROWS)) / len(places)


@torch.no_grad()
def probabilities(network: nn.Module, features: Tensor) -> np.ndarray:
    """A decoder's predicted probabilities (n, values) float64."""
    logits = torch.cat([network(part, {}) for part in features.split(ROWS)])
    return logits.double().softmax(dim=1).cpu().numpy()
