"""repeated_queries: victims send a row several times, and noise that is drawn anew each time is averaged out.

Why: the use of a model does not end with one query. A bound on one sending composes: the mean of R sendings f(x) + n_r,
n_r ~ N(0, sigma^2 I), is f(x) + N(0, sigma^2 / R I), and says as much of x as all of them do (it is sufficient for
f(x)). The adversary queries with its own rows as often, averages, and learns from these means as `logistic` does from
single features. A promise for R sendings, as that of `gaussian_features` or of a noise sqrt(R) times as large, is about
this adversary.

Where nothing is random when a row is sent, all sendings are one, there are no means, and the attack is `logistic`: so
in the federated game, whose noise is on parameters and thus the same for every query, and in split_server where views
have no noise. Ours; the composition is that of Dong, Roth, Su, "Gaussian Differential Privacy", corollary 3.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cutlayer.core.transcript import View
from cutlayer.games.attributes.attack import Attack
from cutlayer.games.attributes.linear import regression


@dataclass(frozen=True)
class RepeatedQueries(Attack):
    """A linear decoder of means over sendings."""

    sees: ClassVar[set[str]] = {"known", "known_mean", "known_attribute", "attacked", "attacked_mean", "values"}
    cheap: ClassVar[bool] = True

    def infer(self, view: View) -> np.ndarray:
        """(q, values) float64 probabilities of the attacked rows' values."""
        known, attacked = (
            getattr(view, f"{part}_mean") if f"{part}_mean" in view else getattr(view, part)
            for part in ("known", "attacked")
        )
        return regression(known, view.known_attribute, int(view.values))(attacked)
