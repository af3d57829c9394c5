"""first_axis: projects gradients on the first principal axis of their batch; the side with the longer tail is positive.

Gradients of two classes are nearly one slope times p - y, of opposite signs, so that the first principal axis of a
batch separates the classes, with isotropic noise or without. No label says which side is positive: the rarer class is
farther from the mean, so that the projections are skewed towards it.

`spectral` uses the same projection, squared or without a sign. Ours; no paper reports it with this sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.core.transcript import View
from cutlayer.games.split.attack import Attack

from ._principal import skewed


@dataclass(frozen=True)
class FirstAxis(Attack):
    """Projection on the first principal axis, with the sign of its skewness."""

    sees: ClassVar[set[str]] = {"gradients"}
    classes: ClassVar[set[int]] = {2}
    cheap: ClassVar[bool] = True

    def infer(self, view: View) -> np.ndarray:
        """Scores (B,) of the examples."""
        return skewed(view.gradients)
