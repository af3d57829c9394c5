"""largest_entry: the larger the largest entry of an example's gradient, the rather it is positive.

Say here how it works, and name the paper if there is one. The first word is the name of the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.core.transcript import View
from cutlayer.games.split.attack import Attack


@dataclass(frozen=True)
class LargestEntry(Attack):
    """Its fields, if it has any, are its parameters: each has a type and a default."""

    sees: ClassVar[set[str]] = {"gradients"}  # nothing else is in the view; games/split/attack.py lists what there is
    classes: ClassVar[set[int]] = {2}  # numbers of classes that it is for

    def infer(self, view: View) -> np.ndarray:
        """A score (B,) for each example of a batch, the higher the rather positive, of its gradients (B, d)."""
        return np.abs(np.asarray(view.gradients)).max(axis=1)
