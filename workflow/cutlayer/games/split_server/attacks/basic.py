"""basic: queries the trained encoder on rows with a known attribute, and trains an attribute decoder on their features.

The decoder has the architecture of the server's classifier; it is applied to the features of the test rows. The paper
names no layer before it; here features are standardized, which infers more of small ones, unless `standardized` is off.

Yu et al., "Privacy-Preserving Split Learning via Pareto Optimal Search", 4 and 6.1: the inference-stage attack; Song
and Shmatikov, "Overlearning Reveals Sensitive Attributes", 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.attributes.decoder import Recipe, decoder, probabilities, tensor
from cutlayer.games.split_server.attack import Attack


@dataclass(frozen=True)
class Basic(Attack):
    """Inference-stage attack: a neural decoder trained on the auxiliary rows' features."""

    sees: ClassVar[set[str]] = {"known", "known_attribute", "attacked", "values", "architecture"}
    limits: ClassVar[Limits] = {"epochs": (1, None), "batch": (1, None), "rate": (0, None), "held": (0, 0.9)}

    epochs: int = 50
    batch: int = 256
    rate: float = 0.001
    held: float = 0.1  # share of the known rows by which the best epoch is chosen; 0: the last one is taken
    standardized: bool = True  # the decoder's inputs; else the features as they are

    def infer(self, view: View) -> np.ndarray:
        """Probabilities (n, values) float64 of the attribute of attacked rows."""
        known, attribute = tensor(view.known, view.device), tensor(view.known_attribute, view.device)
        trained = decoder(
            view, known, attribute, Recipe(self.epochs, self.batch, self.rate, self.held, self.standardized)
        )
        return probabilities(trained, tensor(view.attacked, view.device))
