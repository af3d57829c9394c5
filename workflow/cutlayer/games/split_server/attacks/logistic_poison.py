"""logistic_poison: the Data Poison Attack with logistic regression on the features of the poison rows of each epoch.

As `logistic` for `basic`, this replaces the neural decoder of `dpa`, which has a few hundred rows to learn from, by a
linear one on the same rows and epochs.

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
    """Data Poison Attack with a linear decoder for each epoch."""

    target: ClassVar[str] = "training_attribute"
    sees: ClassVar[set[str]] = {"intercepted", "poison", "poison_attribute", "values"}
    needs: ClassVar[set[str]] = {"poison"}
    cheap: ClassVar[bool] = True

    def infer(self, view: View) -> np.ndarray:
        """Probabilities (E, m, values) float64 of the attribute of intercepted rows after each epoch."""
        values, attribute = int(view.values), view.poison_attribute
        epochs = zip(view.poison, view.intercepted, strict=True)
        return np.stack([regression(poison, attribute, values)(intercepted) for poison, intercepted in epochs])
