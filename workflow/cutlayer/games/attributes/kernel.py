"""Kernel density estimate of p(s | z), the attribute given features, from known rows."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp
from sklearn.metrics.pairwise import euclidean_distances

WIDTHS = 2.0 ** np.arange(-12, 3)  # that are tried, in units of the mean squared distance of known rows
LEFT_OUT = 500  # known rows, at most, for the leave-one-out likelihood


def posterior(
    known: np.ndarray, attribute: np.ndarray, values: int, attacked: np.ndarray, probes: np.ndarray | None = None
) -> np.ndarray:
    """Posterior (m, values): p(s | z) ~ the sum over known rows j of value s of exp(-|z - w_j|^2 / width).

    Of `attacked` z (m, k), by `known` w (n, k) and their attribute (n,). The width maximizes the leave-one-out
    likelihood of the known rows, or of the first LEFT_OUT. `probes` (n, k) are the features of known rows in place of
    attacked ones then, if not w_j itself, as where attacked rows have noise and known ones have none.
    """
    own = euclidean_distances((known if probes is None else probes)[:LEFT_OUT], known, squared=True)
    np.fill_diagonal(own, np.inf)
    unit = own[np.isfinite(own)].mean() if len(known) > 1 else 0.0
    best = 1.0
    if unit > 0:
        best = max(unit * WIDTHS, key=lambda width: _likelihood(own / width, attribute[: len(own)], attribute, values))
    return _shares(euclidean_distances(attacked, known, squared=True) / best, attribute, values)


def _likelihood(distances: np.ndarray, own: np.ndarray, attribute: np.ndarray, values: int) -> float:
    """Mean log-likelihood of rows' own values (m,) at distances (m, n), each probability clipped at 1 / n."""
    chances = _shares(distances, attribute, values)[np.arange(len(own)), own]
    return float(np.log(np.maximum(chances, 1 / len(attribute))).mean())


def _shares(distances: np.ndarray, attribute: np.ndarray, values: int) -> np.ndarray:
    """Shares (m, values) of each value in the kernels exp(-D), at distances (m, n) of known rows with an attribute."""
    logs = np.full((len(distances), values), -np.inf)
    for value in np.unique(attribute):
        logs[:, value] = logsumexp(-distances[:, attribute == value], axis=1)
    shares: np.ndarray = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    return shares
