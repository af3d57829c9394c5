"""logistic_poison: logistic regression on the features of the poison rows, anew each epoch.

What `logistic` is beside `basic`, this is beside `dpa`: the same rows and epochs, a linear decoder in place of a
network that has a few hundred rows to learn from.

Yu et al., "Privacy-Preserving Split Learning via Pareto Optimal Search", 4: the Data Poison Attack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.core.transcript import View
from cutlayer.games.attributes.linear import regression
from cutlayer.games.split_server.attack import Attack


@dataclass(frozen=True)
class LogisticPoison(Attack):
    """For each epoch of the training a linear decoder."""

    target: ClassVar[str] = "training_attribute"
    sees: ClassVar[set[str]] = {"intercepted", "poison", "poison_attribute", "values"}
    needs: ClassVar[set[str]] = {"poison"}
    cheap: ClassVar[bool] = True

    def infer(self, view: View) -> np.ndarray:
        """(E, m, values) float64 probabilities of the intercepted rows' values after each epoch."""
        values, attribute = int(view.values), view.poison_attribute
        epochs = zip(view.poison, view.intercepted, strict=True)
        return np.stack([regression(poison, attribute, values)(intercepted) for poison, intercepted in epochs])
