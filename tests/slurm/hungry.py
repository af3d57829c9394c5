"""hungry: hold memory, until it is killed if it was granted less, and say which GPU this job was given."""

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
    while mb > int(os.environ.get("SLURM_MEM_PER_NODE", mb)):  # SLURM looks every second
        time.sleep(1)
    return float(held[0])
