"""largest_entry: scores each example by the largest entry of its gradient; positives tend to have larger ones.

Explain here how it works, and cite the paper if there is one. The first word is the name of the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.core.transcript import View
from cutlayer.games.split.attack import Attack


@dataclass(frozen=True)
class LargestEntry(Attack):
    """Largest-entry attack; fields, if there are any, are parameters with a type and a default."""

    sees: ClassVar[set[str]] = {"gradients"}  # the view has nothing else; games/split/attack.py lists the options
    classes: ClassVar[set[int]] = {2}  # numbers of classes that it applies to

    def infer(self, view: View) -> np.ndarray:
        """Scores (B,) of a batch from its gradients (B, d); higher means more likely positive."""
        return np.abs(np.asarray(view.gradients)).max(axis=1)
