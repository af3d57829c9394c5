"""Attribute decoders of one architecture, each for features of its own, trained in parallel.

An attack on every epoch of a training needs one for each. Their layers are small: one batched product for all saves
half of the time (workflow/benchmarks/stacked_decoders.md). Random draws are those of one decoder after the other, so
that each result is the same as in sequence, except for rounding, which grows in long trainings.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap
from torch.nn.functional import cross_entropy

from cutlayer.core.descent import descend
from cutlayer.core.transcript import View

from .decoder import ROWS, Recipe, fresh, moments

Predictor = Callable[[Tensor], np.ndarray]  # features (D, m, ...) -> (D, m, values) float64 probabilities
Weights = dict[str, Tensor]  # of all: (D, ...)


def decoders(view: View, features: Tensor, attribute: Tensor, recipe: Recipe) -> Predictor:
    """Train D decoders on features (D, n, ...) of rows with an attribute (n,); return their predictor."""
    networks, orders, held = [], [], []
    for _ in features:
        decoder = fresh(view)
        out, rows = np.split(view.rng.permutation(len(attribute)), [math.floor(recipe.held * len(attribute))])
        orders.append(np.stack([view.rng.permutation(rows) for _ in range(recipe.epochs)]))
        networks.append(decoder.network)
        held.append(out)
    mean, scale = moments(features, {0, 2}) if recipe.standardized else (torch.zeros(()), torch.ones(()))
    stack = Stack(networks, (features - mean) * scale, attribute)
    weights = stack.trained(torch.from_numpy(np.stack(orders)), torch.from_numpy(np.stack(held)), recipe)
    return lambda attacked: stack.probabilities(weights, (attacked - mean) * scale)


class Stack:
    """D networks of one architecture, and the training rows (D, n, ...) with an attribute (n,) of each."""

    def __init__(self, networks: list[nn.Module], features: Tensor, attribute: Tensor) -> None:
        shape = copy.deepcopy(networks[0]).to("meta")
        self.first, _ = stack_module_state(networks)
        self.answers = vmap(lambda weights, rows: functional_call(shape, weights, (rows, {})))
        self.features, self.attribute = features, attribute
        self.member = torch.arange(len(networks))[:, None]

    def trained(self, orders: Tensor, held: Tensor, recipe: Recipe) -> Weights:
        """Weights after the epoch with the least loss on held-out rows (D, h), or the last; `orders` (D, epochs, r)."""
        weights, best = self.first, dict[str, Tensor]()
        least = torch.full((len(orders),), math.inf)
        optimizer = torch.optim.Adam(weights.values(), recipe.rate, fused=True)
        for epoch in orders.unbind(dim=1):
            for batch in epoch.tensor_split(math.ceil(epoch.shape[1] / recipe.batch), dim=1):
                descend(optimizer, self.losses(weights, batch).mean(dim=1).sum())
            if held.shape[1]:
                now = self.held_losses(weights, held)
                best = _kept(best, weights, (now < least).to(self.features.device))
                least = torch.minimum(now, least)
        return best or weights

    def losses(self, weights: Weights, places: Tensor) -> Tensor:
        """Losses (D, B) of each network on its rows at these places (D, B)."""
        logits = self.answers(weights, self.features[self.member, places])
        wanted = self.attribute[places]
        return cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)

    @torch.no_grad()
    def held_losses(self, weights: Weights, held: Tensor) -> Tensor:
        """Mean losses (D,) on held-out rows (D, h)."""
        return self.losses(weights, held).mean(dim=1).cpu()

    @torch.no_grad()
    def probabilities(self, weights: Weights, features: Tensor) -> np.ndarray:
        """Predicted probabilities (D, m, values) float64 for features (D, m, ...)."""
        logits = torch.cat([self.answers(weights, part) for part in features.split(ROWS, dim=1)], dim=1)
        found: np.ndarray = logits.double().softmax(dim=2).cpu().numpy()
        return found


@torch.no_grad()
def _kept(best: Weights, weights: Weights, better: Tensor) -> Weights:
    """The best weights so far, updated where `better` (D,)."""
    if not best:
        return {name: value.clone() for name, value in weights.items()}
    for name, value in weights.items():
        best[name][better] = value[better]
    return best
