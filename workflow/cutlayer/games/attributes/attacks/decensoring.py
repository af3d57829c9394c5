"""decensoring: maps censored features to those of a model that was trained to predict the attribute.

On the auxiliary rows the adversary trains an encoder and a classifier of the same architectures for the attribute. A
transformation then learns to map the clients' features of these rows to the adversary's own, by the mean squared error,
and a decoder learns the attribute from the transformed features. Both are then applied to the attacked rows. Chosen
here: the transformation is two linear layers, or two 3 x 3 convolutions, twice as wide between; the decoder has the
classifier's architecture.

Song and Shmatikov, "Overlearning Reveals Sensitive Attributes", 3, algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss

from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.attributes.attack import Attack
from cutlayer.games.attributes.decoder import ROWS, Recipe, Standardized, decoder, probabilities, seeded, tensor, train
from cutlayer.games.base.encoded import parts, picked, take
from cutlayer.games.base.snapshot import parsed


@dataclass(frozen=True)
class Decensoring(Attack):
    """De-censoring: an uncensored model, a transformation to its features, and a decoder on the transformed ones."""

    sees: ClassVar[set[str]] = {"known", "known_attribute", "attacked", "inputs", "values", "architecture"}
    limits: ClassVar[Limits] = {"epochs": (1, None), "batch": (2, None), "rate": (0, None), "held": (0, 0.9)}

    epochs: int = 50  # of each of the three
    batch: int = 256
    rate: float = 0.001
    held: float = 0.1  # share of the known rows by which the best epoch is chosen; 0: the last one is taken

    def skip(self, view: View) -> str:
        """Needs the auxiliary rows themselves, not only their features."""
        return "" if "inputs" in view else "for adversaries with the auxiliary rows, here there are only features"

    def infer(self, view: View) -> np.ndarray:
        """Probabilities (n, values) float64 of the attribute of attacked rows."""
        recipe = Recipe(self.epochs, self.batch, self.rate, self.held)
        known, attribute = tensor(view.known, view.device), tensor(view.known_attribute, view.device)
        network = transformation(view, known, uncensored(view, attribute, recipe), recipe)
        trained = decoder(view, _applied(network, known), attribute, recipe)
        return probabilities(trained, _applied(network, tensor(view.attacked, view.device)))


class _Whole(nn.Module):
    def __init__(self, bottom: nn.Module, top: nn.Module) -> None:
        super().__init__()
        self.bottom, self.top = bottom, top

    def forward(self, x: dict[str, Tensor]) -> Tensor:
        return self.top(self.bottom(x)[1], {})


def uncensored(view: View, attribute: Tensor, recipe: Recipe) -> Tensor:
    """The auxiliary rows' features (n, ...) in a model trained on their attribute."""
    model, inputs = parsed(view.architecture)
    x = {name: t.to(view.device) for name, t in model.encode(view.inputs, inputs).items()}
    with seeded(view.rng):
        own = _Whole(model.bottom(inputs), model.top(inputs, int(view.values))).to(view.device)
    train(
        own, lambda rows: cross_entropy(own(take(x, rows.numpy())), attribute[rows]), len(attribute), recipe, view.rng
    )
    with torch.no_grad():
        return torch.cat([own.bottom(part)[1] for part in parts(x, np.arange(len(attribute)))])


def transformation(view: View, known: Tensor, goal: Tensor, recipe: Recipe) -> nn.Module:
    """A network trained to map the known features (n, ...) to the goal (n, ...)."""
    channels = known.shape[1]
    layer = nn.Linear if known.ndim == 2 else partial(nn.Conv2d, kernel_size=3, padding=1)
    with seeded(view.rng):
        layers = nn.Sequential(layer(channels, 2 * channels), nn.ReLU(), layer(2 * channels, channels))
    network = Standardized(layers).to(view.device)
    network.adapt(known)
    train(network, lambda rows: mse_loss(network(picked(known, rows)), goal[rows]), len(known), recipe, view.rng)
    return network


@torch.no_grad()
def _applied(network: nn.Module, features: Tensor) -> Tensor:
    return torch.cat([network(part) for part in features.split(ROWS)])
