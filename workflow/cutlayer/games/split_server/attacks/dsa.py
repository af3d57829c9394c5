"""dsa: trains a shadow encoder adversarially to imitate the clients' features, and an attribute decoder on its output.

In each epoch of the training, a discriminator learns to distinguish the shadow encoder's features of auxiliary rows
from the intercepted ones of the clients' rows, the shadow encoder (of the encoder's architecture) learns to deceive it,
and a decoder with the classifier's architecture learns the attribute from the shadow features. The decoder is then
applied to the intercepted ones. All three are trained on from epoch to epoch. As in the reference the decoder's loss
does not train the shadow encoder, which would otherwise encode an attribute that the clients' encoder does not.

Chosen here, where the paper says "two convolutional layers and two residual blocks": these convolutions have stride 2.
Where the intercepted features have noise the shadow features get as much; without it the discriminator would
distinguish them by the variance alone. Inputs of decoder and discriminator are standardized, unless `standardized` is
off. Real features are those of the attacked rows, of which there may be far fewer than train.

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
    """Decoding Simulator Attack: adversarially trained shadow encoder and attribute decoder."""

    target: ClassVar[str] = "training_attribute"
    sees: ClassVar[set[str]] = {"intercepted", "noise", "inputs", "known_attribute", "values", "architecture"}
    limits: ClassVar[Limits] = {"epochs": (1, None), "batch": (2, None), "rate": (0, None), "width": (1, None)}

    epochs: int = 5  # over the auxiliary rows, in each epoch of the training
    batch: int = 256
    rate: float = 0.001
    width: int = 128  # the discriminator's channels
    standardized: bool = True  # inputs of decoder and discriminator; else the features as they are

    def skip(self, view: View) -> str:
        """Needs images, as the discriminator is convolutional; in the paper the attack fails on tables."""
        return "" if view.intercepted.ndim == 5 else "for images, here the features of a row are a vector"

    def infer(self, view: View) -> np.ndarray:
        """Probabilities (E, m, values) float64 of the attribute of intercepted rows after each epoch."""
        simulator = Simulator(view, self.rate, self.width, self.standardized)
        epochs = (tensor(sent, view.device) for sent in view.intercepted)
        return np.stack([simulator.attack_epoch(sent, self.epochs, self.batch) for sent in epochs])
