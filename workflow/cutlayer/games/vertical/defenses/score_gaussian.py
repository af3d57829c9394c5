"""score_gaussian: adds Gaussian noise to every score.

The noise has standard deviation 0.48448 / epsilon, which is the classical Gaussian mechanism's at delta 1e-5 for scores
that move by at most 0.1 in L2. That is the baseline in the code of PRIVEE. It is neither accounted for queries of the
same row (`accounted` is ours, and multiplies it by the root of their number), nor is 0.1 the sensitivity: scores of two
rows differ by up to sqrt(2). `auc_bound` takes that, and all queries.

Baseline in Madabushi et al., "PRIVEE: Privacy-Preserving Vertical Federated Learning Against Feature Inference
Attacks", 2025; as in its code, for its text was not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtr

from cutlayer.core.limits import Limits
from cutlayer.games.vertical.defense import Context, Defense

from ._noise import deviation


@dataclass(frozen=True)
class ScoreGaussian(Defense):
    """Noisy scores, which may be negative; a row does not sum to 1, and decisions may change."""

    distributions: ClassVar[bool] = False
    about: ClassVar[str] = "row"
    limits: ClassVar[Limits] = {"epsilon": (1e-6, None), "queries": (1, None)}

    epsilon: float = 1.0
    queries: int = 1  # how often each row is scored; the mean of the answers is shown, which says all that they do
    accounted: bool = False  # whether the noise is for all queries together

    @property
    def auc_bound(self) -> float:
        """Phi(1 / deviation of the mean): the optimal test between two rows whose scores differ by sqrt(2)."""
        return float(ndtr(1 / deviation(self.epsilon, self.queries, self.accounted)))

    def reveal(self, logits: np.ndarray, context: Context) -> np.ndarray:
        """The mean of all answers about each row."""
        noise = context.rng.standard_normal(logits.shape)
        return super().reveal(logits, context) + deviation(self.epsilon, self.queries, self.accounted) * noise
