"""dpa: poisons the training with rows whose attribute is known, and trains a decoder on the features released for them.

In each epoch of the training a decoder with the classifier's architecture is trained on the poison rows' features of
this epoch, and applied to the features of the other training rows. Chosen here: each epoch's decoder is initialized
anew, so that overfitting does not carry over to the next. Its inputs are standardized, unless `standardized` is off.

Yu et al., "Privacy-Preserving Split Learning via Pareto Optimal Search", 4 and 6.1: the Data Poison Attack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.attributes.decoder import Recipe, tensor
from cutlayer.games.attributes.decoders import decoders
from cutlayer.games.split_server.attack import Attack


@dataclass(frozen=True)
class DataPoison(Attack):
    """Data Poison Attack: for each epoch a neural decoder, trained on the poison rows' features."""

    target: ClassVar[str] = "training_attribute"
    sees: ClassVar[set[str]] = {"intercepted", "poison", "poison_attribute", "values", "architecture"}
    needs: ClassVar[set[str]] = {"poison"}
    limits: ClassVar[Limits] = {"epochs": (1, None), "batch": (1, None), "rate": (0, None), "held": (0, 0.9)}

    epochs: int = 50  # of the decoder, in each epoch of the training
    batch: int = 256
    rate: float = 0.001
    held: float = 0.1  # share of the poison rows by which the best epoch is chosen; 0: the last one is taken
    standardized: bool = True  # each decoder's inputs; else the features as they are

    def infer(self, view: View) -> np.ndarray:
        """Probabilities (E, m, values) float64 of the attribute of intercepted rows after each epoch."""
        recipe = Recipe(self.epochs, self.batch, self.rate, self.held, self.standardized)
        poison, attribute, attacked = (
            tensor(part, view.device) for part in (view.poison, view.poison_attribute, view.intercepted)
        )
        return decoders(view, poison, attribute, recipe)(attacked)
