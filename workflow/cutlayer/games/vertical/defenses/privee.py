"""privee: reveals scores that are rotated and stretched by random factors that keep their ranks.

With the scores of a row in ascending order, c_0 <= ... <= c_(K-1), what is revealed is (I - (2/K) 1 1' + diag(s)) c,
put back in the order of classes: the first part keeps distances, and s_i ~ U[3i/K, 3(i+1)/K] 0.48448/rho increases with
i, so that ranks stay. Values may be negative or above 1. The code draws s once a call for all its rows (`draw: call`);
`row` draws it for each row and is ours.

`form: plus` is "PRIVEE++" of the code: s_i ~ U[i/K, (i+1)/K] 0.48448/rho_i, where rho_i = 0.05 + 0.05 (i+1)/K whatever
`rho` says. These intervals overlap with their neighbors, so that s may decrease, and two scores that are next to each
other may swap if one is less than (1 + the upper end) / (1 + the lower end of the next) of the other: 1.24 for two
classes, less for more. So may the decision.

Madabushi et al., "PRIVEE: Privacy-Preserving Vertical Federated Learning Against Feature Inference Attacks", 2025; as
in its code, for its text was not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from cutlayer.core.limits import Limits
from cutlayer.games.vertical.defense import Context, Defense

from ._noise import UNIT


@dataclass(frozen=True)
class Privee(Defense):
    """Rotated, stretched scores with the ranks of the true ones; a row does not sum to 1."""

    distributions: ClassVar[bool] = False
    limits: ClassVar[Limits] = {"rho": (1e-6, None)}

    rho: float = 0.1  # the less of it, the more the scores are stretched
    draw: Literal["call", "row"] = "call"
    form: Literal["privee", "plus"] = "privee"

    def reveal(self, logits: np.ndarray, context: Context) -> np.ndarray:
        """Values (N x k) in the order of the scores, but for neighbors under `plus`.

        Of equal scores the first class is taken for the larger.
        """
        n, k = logits.shape
        ascending = np.argsort(-logits, axis=1, kind="stable")[:, ::-1]
        scores = np.take_along_axis(super().reveal(logits, context), ascending, axis=1)
        low, high = stretches(k, self.rho, self.form)
        stretch = context.rng.uniform(low, high, (n if self.draw == "row" else 1, k))
        shown = np.empty_like(scores)
        np.put_along_axis(shown, ascending, (1 + stretch) * scores - 2 / k, axis=1)
        return shown


def stretches(classes: int, rho: float, form: str) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest value (k,) of each entry of s, for scores in ascending order."""
    if form == "plus":
        edges = np.arange(classes + 1) / classes
        units = UNIT / (0.05 + 0.05 * edges[1:])
        return edges[:-1] * units, edges[1:] * units
    edges = 3 * np.arange(classes + 1) / classes * UNIT / rho
    return edges[:-1], edges[1:]
