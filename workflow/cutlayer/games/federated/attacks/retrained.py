"""retrained: trains attribute classifiers of several capacities from scratch on the frozen representations.

A linear one (logistic regression), one with the architecture of the devices' g_Psi, a wider perceptron; and the prior
of the values, which ignores the representation. Validation by cross-entropy on held-out rows selects one of them, whose
prediction is the attack's guess; the best of all (`_max`) could only be selected with the truth, so that it is a bound,
biased upwards.

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
    """Attribute classifiers trained on representations, selected by validation."""

    sees: ClassVar[set[str]] = {"known", "known_attribute", "attacked", "values", "architecture"}
    limits: ClassVar[Limits] = {
        "epochs": (1, None), "batch": (1, None), "rate": (0, None), "held": (0.01, 0.5), "width": (1, None),
    }  # fmt: skip

    epochs: int = 50
    batch: int = 256
    rate: float = 0.001
    held: float = 0.1  # share of the known rows that select the capacity, and of the others that select its epoch
    width: int = 256  # of the wide one's two layers

    def infer(self, view: View) -> Mapping[str, np.ndarray]:
        """Probabilities (m, values) float64 of each classifier by name; "" stacks all, the selected one last."""
        known, attribute = tensor(view.known, view.device), tensor(view.known_attribute, view.device)
        held, rows = np.split(view.rng.permutation(len(known)), [math.ceil(self.held * len(known))])
        validation, attacked = known[held], tensor(view.attacked, view.device)
        found, losses = {}, {}
        for name, adversary in self._adversaries(view, known[rows], attribute[rows]).items():
            found[name] = adversary(attacked)
            losses[name] = cross_entropy(adversary(validation), view.known_attribute[held])
        best = min(losses, key=lambda name: losses[name])
        guesses = [*(guess for name, guess in found.items() if name != best), found[best]]
        return {"": np.stack(guesses)} | {name: guess for name, guess in found.items() if name != "prior"}

    def _adversaries(self, view: View, known: Tensor, attribute: Tensor) -> dict[str, Adversary]:
        """All classifiers, trained on features (n, ...) and their attribute (n,)."""
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
        """Standardize by the mean and variance of these features."""
        super().adapt(pooled(features))

    def forward(self, features: Tensor, *more: object) -> Tensor:
        """The network's logits for these features."""
        return super().forward(pooled(features))


def pooled(features: Tensor) -> Tensor:
    """Pooled features (n, k): averages over a few parts of each channel of (n, c, h, w); (n, k) is unchanged."""
    if features.ndim == 2:
        return features
    height, width = (min(PLACES, side) for side in features.shape[2:])
    return adaptive_avg_pool2d(features, (height, width)).flatten(1)


def prior(attribute: np.ndarray, values: int) -> Adversary:
    """Prior frequencies of the values, whatever the features, with add-one smoothing."""
    counts = 1.0 + np.bincount(attribute, minlength=values)
    return lambda features: np.tile(counts / counts.sum(), (len(features), 1))


def linear(known: Tensor, attribute: np.ndarray, values: int) -> Adversary:
    """Logistic regression with scikit-learn's penalty."""
    if len(np.unique(attribute)) == 1:
        return prior(attribute, values)
    fitted = regression(_vectors(known), attribute, values)
    return lambda features: fitted(_vectors(features))


def cross_entropy(scores: np.ndarray, truth: np.ndarray) -> float:
    """Cross-entropy: mean negative log of the probabilities (n, values) of the true values (n,)."""
    own = scores[np.arange(len(truth)), truth]
    return float(-np.log(np.maximum(own, np.finfo(float).tiny)).mean())


def _vectors(features: Tensor) -> np.ndarray:
    return pooled(features).double().cpu().numpy()


def _layers(*sizes: int) -> nn.Sequential:
    """Linear layers with ReLU between them."""
    linear = [nn.Linear(a, b) for a, b in pairwise(sizes)]
    return nn.Sequential(*[part for layer in linear[:-1] for part in (layer, nn.ReLU())], linear[-1])
