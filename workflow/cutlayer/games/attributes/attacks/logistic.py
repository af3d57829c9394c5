"""logistic: infers the attribute by logistic regression on the features of rows with a known attribute.

The baseline of every neural decoder: no architecture, no epochs to choose, one optimum. A decoder that does worse on
the same rows was badly trained, and a defense that withstands only such a decoder is not shown to protect. What a
linear score cannot infer is left to the decoders.

Features are standardized, and the penalty is scikit-learn's, as in `retrained`, whose linear adversary has fewer rows.
Song and Shmatikov, "Overlearning Reveals Sensitive Attributes", 3, is the attack that this is the simplest form of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.core.transcript import View
from cutlayer.games.attributes.attack import Attack
from cutlayer.games.attributes.linear import regression


@dataclass(frozen=True)
class Logistic(Attack):
    """Logistic regression on released features."""

    sees: ClassVar[set[str]] = {"known", "known_attribute", "attacked", "values"}
    cheap: ClassVar[bool] = True

    def infer(self, view: View) -> np.ndarray:
        """Probabilities (q, values) float64 of the attribute of attacked rows."""
        return regression(view.known, view.known_attribute, int(view.values))(view.attacked)
