"""dsa: train a shadow encoder until what it sends cannot be told from what the clients send, and decode that.

Each epoch of the training, a discriminator learns to tell the shadow encoder's features of auxiliary rows from the
intercepted ones of the clients' rows, the shadow encoder (of the encoder's shape) learns to deceive it, and a decoder
of the classifier's shape learns the attribute from the shadow features. It is then asked about the intercepted ones.
All three go on from epoch to epoch. As in the reference the decoder's loss does not train the shadow encoder, which
would else carry an attribute that the clients' does not.

Chosen here, where the paper says "two convolutional layers and two residual blocks": these convolutions have stride 2.
Where the intercepted features have noise the shadow features get as much; an adversary that left it out would be told
apart by the variance alone.

Yu et al., "Privacy-Preserving Split Learning via Pareto Optimal Search", 4 and 6.1: the Decoding Simulator Attack;
Xiaochen, "Feature Inference Attacks on Split Learning with an Honest-but-Curious Server".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.attributes.decoder import tensor
from cutlayer.games.split_server.attack import Attack

from ._simulator import Simulator


@dataclass(frozen=True)
class DecodingSimulator(Attack):
    """A shadow encoder against a discriminator, and a decoder beside them."""

    target: ClassVar[str] = "training_attribute"
    sees: ClassVar[set[str]] = {"intercepted", "noise", "inputs", "known_attribute", "values", "architecture"}
    limits: ClassVar[Limits] = {"epochs": (1, None), "batch": (2, None), "rate": (0, None), "width": (1, None)}

    epochs: int = 5  # over the auxiliary rows, in each epoch of the training
    batch: int = 256
    rate: float = 0.001
    width: int = 128  # the discriminator's channels

    def skip(self, view: View) -> str:
        """The discriminator convolves; the paper saw the attack fail on tables."""
        return "" if view.intercepted.ndim == 5 else "for images, here the features of a row are a vector"

    def infer(self, view: View) -> np.ndarray:
        """(E, m, values) float64 probabilities of the intercepted rows' values after each epoch."""
        simulator = Simulator(view, self.rate, self.width)
        epochs = (tensor(sent, view.device) for sent in view.intercepted)
        return np.stack([simulator.follow(sent, self.epochs, self.batch) for sent in epochs])
