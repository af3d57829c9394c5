"""cae: trains on soft labels that a secret autoencoder makes of the true ones, and decodes the predictions with it.

Before the training an encoder E and a decoder D, each k -> `hidden` -> k with ReLU and a softmax, learn from random
soft labels y, sharpened at temperature 0.025, to minimize 10 CE(D(E(y)), y) - `confusion` H(E(y)) - CE(E(y), y): what
is decoded is the label, what the gradients come from is spread over other classes. As in the code of VFLAIR, each
cross-entropy takes the logarithm of a second softmax over what is a distribution already, and the entropy H is the
mean over entries, not the sum. Smaller than there: `hidden` units in place of (2 + 6k)^2, and `steps` of Adam on fresh
soft labels, at a rate of 0.005.

E is a function of the class, so that rows of one class share one target and the gradients form the clusters of an
undefended run, under other names. So no bound, and no secret that an adversary needs. `bins` above 0 also quantizes
gradients (DCAE), see `compressed`. The code's limit of 3e-4 is of gradients of a mean over up to 2,048 rows.

Zou et al., "Defending Batch-Level Label Inference and Replacement Attacks in Vertical Federated Learning"; its text
could not be read, this is the form of VFLAIR's code.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from cutlayer.core.descent import descend
from cutlayer.core.devices import seeded
from cutlayer.core.limits import Limits
from cutlayer.games.split.defense import Context, Defense, Training

from .compressed import quantized

BATCH, SHARPENED, RATE = 128, 0.025, 0.005


@dataclass(frozen=True)
class CAE(Defense):
    """Confusional autoencoder of the labels."""

    limits: ClassVar[Limits] = {
        "confusion": (0, None), "hidden": (1, None), "steps": (1, None), "bins": (0, None), "limit": (0, None),
    }  # fmt: skip

    confusion: float = 1.0  # lambda: weight of the entropy
    hidden: int = 128
    steps: int = 400
    bins: int = 0  # of the gradients; 0: they are released as they are
    limit: float = 0.0  # of the bins, as in `compressed`

    def begin(self, training: Training) -> tuple[Tensor, nn.Module]:
        """The soft label of each class (k, k), and the decoder."""
        seed = int(torch.randint(2**62, (), generator=training.generator))
        encoder, decoder = autoencoder(training.classes, self.confusion, self.hidden, self.steps, seed)
        with torch.no_grad():
            return encoder(torch.eye(training.classes)).to(training.device), decoder

    def soft_labels(self, context: Context) -> Tensor:
        """Soft labels (B, k): the encoded classes."""
        return context.state[0][context.labels]

    def backward(self, gradient: Tensor, context: Context) -> Tensor:
        """Gradients (B, d), quantized if there are bins."""
        return quantized(gradient, self.bins, self.limit) if self.bins else gradient

    def to_class_probabilities(self, probabilities: np.ndarray, state: tuple[Tensor, nn.Module]) -> np.ndarray:
        """Decoded probabilities (N, k)."""
        with torch.no_grad():
            found = state[1](torch.tensor(probabilities, dtype=torch.float32)).double().numpy()
        return np.asarray(found / found.sum(axis=1, keepdims=True))


@functools.cache
def autoencoder(classes: int, confusion: float, hidden: int, steps: int, seed: int) -> tuple[nn.Module, nn.Module]:
    """The encoder and the decoder, (N, k) -> (N, k), trained from this seed."""
    with seeded(seed):
        encoder, decoder = (_network(classes, hidden) for _ in range(2))
        optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], RATE, fused=True)
        for _ in range(steps):
            label = (torch.rand(BATCH, classes).log() / SHARPENED).softmax(dim=1)
            code = encoder(label)
            entropy = -torch.special.xlogy(code, code.clamp_min(1e-9)).mean()
            loss = 10 * _cross_entropy(decoder(code), label) - confusion * entropy - _cross_entropy(code, label)
            descend(optimizer, loss)
    return encoder, decoder


def _network(classes: int, hidden: int) -> nn.Sequential:
    layers = nn.Linear(classes, hidden), nn.ReLU(), nn.Linear(hidden, classes), nn.Softmax(dim=1)
    for layer in layers[::2]:
        nn.init.normal_(layer.weight, std=0.01)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(*layers)


def _cross_entropy(found: Tensor, label: Tensor) -> Tensor:
    return -(label * found.log_softmax(dim=1)).sum(dim=1).mean()
