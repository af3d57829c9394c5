"""retrained: adversaries of several capacities, each trained from scratch on the frozen representations of known rows.

A linear one (logistic regression), one of the shape of the devices' g_Psi, a wider perceptron; and one that looks at
nothing and guesses by how common the values are. Rows that none was trained on choose among them, by the cross-entropy.
That one is the attack's own guess; what the best of all reaches (`_max`) could only be picked with the truth, so it is
a bound, biased upwards.

Chosen here, where the paper reports the networks that its devices trained themselves (see `stale`). For images the
linear and the wide one see averages over at most 2 x 2 parts of each channel, the head sees everything.

Arroyo Arevalo, Noorbakhsh, Dong, Hong, Wang, "Task-Agnostic Privacy-Preserving Representation Learning for Federated
Learning Against Attribute Inference Attacks", table 2; Song and Shmatikov, "Overlearning Reveals Sensitive Attributes".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import ClassVar

import numpy as np
from torch import Tensor, nn
from torch.nn.functional import adaptive_avg_pool2d

from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.attributes.decoder import Recipe, Standardized, fitted, fresh, probabilities, seeded, tensor
from cutlayer.games.attributes.linear import regression
from cutlayer.games.federated.attack import Attack

PLACES = 2  # along each side of an image
Adversary = Callable[[Tensor], np.ndarray]  # features (n, ...) -> (n, values) probabilities


@dataclass(frozen=True)
class Retrained(Attack):
    """The best of several adversaries, by rows held back from all of them."""

    sees: ClassVar[set[str]] = {"known", "known_attribute", "attacked", "values", "architecture"}
    limits: ClassVar[Limits] = {
        "epochs": (1, None), "batch": (1, None), "rate": (0, None), "held": (0.01, 0.5), "width": (1, None),
    }  # fmt: skip

    epochs: int = 50
    batch: int = 256
    rate: float = 0.001
    held: float = 0.1  # share of the known rows that choose the capacity, and of the others that choose its epoch
    width: int = 256  # of the wide one's two layers

    def infer(self, view: View) -> Mapping[str, np.ndarray]:
        """(m, values) float64 probabilities of each capacity by name; as the own guess all, the chosen one last."""
        known, attribute = tensor(view.known, view.device), tensor(view.known_attribute, view.device)
        held, rows = np.split(view.rng.permutation(len(known)), [math.ceil(self.held * len(known))])
        asked, attacked = known[held], tensor(view.attacked, view.device)
        found, losses = {}, {}
        for name, adversary in self._adversaries(view, known[rows], attribute[rows]).items():
            found[name] = adversary(attacked)
            losses[name] = cross_entropy(adversary(asked), view.known_attribute[held])
        best = min(losses, key=lambda name: losses[name])
        guesses = [*(guess for name, guess in found.items() if name != best), found[best]]
        return {"": np.stack(guesses)} | {name: guess for name, guess in found.items() if name != "prior"}

    def _adversaries(self, view: View, known: Tensor, attribute: Tensor) -> dict[str, Adversary]:
        """All of them, trained on features (n, ...) and their attribute (n,)."""
        recipe, values = Recipe(self.epochs, self.batch, self.rate, self.held), int(view.values)
        with seeded(view.rng):
            wide = Pooled(_layers(pooled(known[:1]).shape[1], self.width, self.width, values))
        networks = {"head": fresh(view), "wide": wide.to(view.device)}
        for network in networks.values():
            fitted(network, known, attribute, recipe, view.rng)
        own = attribute.cpu().numpy()
        simple = {"prior": prior(own, values), "linear": linear(known, own, values)}
        return simple | {name: partial(probabilities, network) for name, network in networks.items()}


class Pooled(Standardized):
    """A network on vectors (B, k), applied to features of any shape."""

    def adapt(self, features: Tensor) -> None:
        """Take mean and variance from these."""
        super().adapt(pooled(features))

    def forward(self, features: Tensor, *more: object) -> Tensor:
        """What the network says of these."""
        return super().forward(pooled(features))


def pooled(features: Tensor) -> Tensor:
    """(n, k) of features (n, k) or (n, c, h, w): averages over a few parts of each channel."""
    if features.ndim == 2:
        return features
    height, width = (min(PLACES, side) for side in features.shape[2:])
    return adaptive_avg_pool2d(features, (height, width)).flatten(1)


def prior(attribute: np.ndarray, values: int) -> Adversary:
    """How common each value is, whatever the features; one row more of each, so that none is impossible."""
    counts = 1.0 + np.bincount(attribute, minlength=values)
    return lambda features: np.tile(counts / counts.sum(), (len(features), 1))


def linear(known: Tensor, attribute: np.ndarray, values: int) -> Adversary:
    """Logistic regression with scikit-learn's penalty."""
    if len(np.unique(attribute)) == 1:
        return prior(attribute, values)
    asked = regression(_vectors(known), attribute, values)
    return lambda features: asked(_vectors(features))


def cross_entropy(scores: np.ndarray, truth: np.ndarray) -> float:
    """Mean negative logarithm of the probabilities (n, values) of the true values (n,)."""
    own = scores[np.arange(len(truth)), truth]
    return float(-np.log(np.maximum(own, np.finfo(float).tiny)).mean())


def _vectors(features: Tensor) -> np.ndarray:
    return pooled(features).double().cpu().numpy()


def _layers(*sizes: int) -> nn.Sequential:
    """Linear layers with ReLU between them."""
    linear = [nn.Linear(a, b) for a, b in pairwise(sizes)]
    return nn.Sequential(*[part for layer in linear[:-1] for part in (layer, nn.ReLU())], linear[-1])
