"""hungry: hold memory for a while, and say which GPU this job was given."""

from __future__ import annotations

import functools
import os
import sys
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.core.transcript import View
from cutlayer.games.vertical.attack import Attack


@dataclass(frozen=True)
class Hungry(Attack):
    """Guesses of one half, at a price."""

    sees: ClassVar[set[str]] = {"scores", "passive"}
    mb: int = 1

    def infer(self, view: View) -> np.ndarray:
        """N x d guesses."""
        return np.full((len(view.scores), len(view.passive)), hold(self.mb) / 2)


@functools.cache
def hold(mb: int) -> float:
    """Once in a job."""
    import torch

    print(f"CUDA_VISIBLE_DEVICES={os.environ.get('CUDA_VISIBLE_DEVICES')}", file=sys.stderr)
    held = torch.ones(mb * 2**17, dtype=torch.float64)
    time.sleep(3 if mb > 100 else 0)  # SLURM looks every second
    return float(held[0])
