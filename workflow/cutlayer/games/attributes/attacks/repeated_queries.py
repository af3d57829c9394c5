"""repeated_queries: averages several noisy releases of each row, then infers the attribute by logistic regression.

Why: a model is used for more than one query. A bound on one release composes: the mean of R releases f(x) + n_r,
n_r ~ N(0, sigma^2 I), is f(x) + N(0, sigma^2 / R I), and reveals as much of x as all of them (it is sufficient for
f(x)). The adversary queries with its own rows as often, averages, and learns from these means as `logistic` does from
single features. A bound for R releases, as that of `gaussian_features` or of a noise sqrt(R) times as large, covers
this adversary.

Where releases are deterministic there are no means, and the attack is `logistic`: so in federated learning, whose noise
is on parameters and thus the same for every query, and in split_server where views have no noise. Ours; the composition
is that of Dong, Roth, Su, "Gaussian Differential Privacy", corollary 3.3.
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
    """Logistic regression on the mean features of several releases."""

    sees: ClassVar[set[str]] = {"known", "known_mean", "known_attribute", "attacked", "attacked_mean", "values"}
    cheap: ClassVar[bool] = True

    def infer(self, view: View) -> np.ndarray:
        """Probabilities (q, values) float64 of the attribute of attacked rows."""
        known, attacked = (
            getattr(view, f"{part}_mean") if f"{part}_mean" in view else getattr(view, part)
            for part in ("known", "attacked")
        )
        return regression(known, view.known_attribute, int(view.values))(attacked)
