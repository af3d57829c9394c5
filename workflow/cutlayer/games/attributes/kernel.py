"""p(s | z) of features z by those of known rows: the attribute of the rows that are near, weighted by how near."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp
from sklearn.metrics.pairwise import euclidean_distances

WIDTHS = 2.0 ** np.arange(-12, 3)  # that are tried, in units of the mean squared distance of known rows
LEFT_OUT = 500  # known rows, at most, that are guessed to choose one


def posterior(
    known: np.ndarray, attribute: np.ndarray, values: int, asked: np.ndarray, probes: np.ndarray | None = None
) -> np.ndarray:
    """(m, values): p(s | z) proportional to the sum over known rows j of value s of exp(-|z - w_j|^2 / width).

    Of `asked` z (m, k), by `known` w (n, k) and their attribute (n,). The width is the one by which the known rows
    themselves, or the first LEFT_OUT, are guessed best, each by all others (leave-one-out likelihood). `probes` (n, k):
    what is asked of a known row then, if not w_j itself, as where what is asked has noise and the known rows have none.
    """
    own = euclidean_distances((known if probes is None else probes)[:LEFT_OUT], known, squared=True)
    np.fill_diagonal(own, np.inf)
    unit = own[np.isfinite(own)].mean() if len(known) > 1 else 0.0
    best = 1.0
    if unit > 0:
        best = max(unit * WIDTHS, key=lambda width: _likelihood(own / width, attribute[: len(own)], attribute, values))
    return _shares(euclidean_distances(asked, known, squared=True) / best, attribute, values)


def _likelihood(distances: np.ndarray, own: np.ndarray, attribute: np.ndarray, values: int) -> float:
    """Mean log-probability of rows' own values (m,) at distances (m, n); no row's counts as less than one in n."""
    chances = _shares(distances, attribute, values)[np.arange(len(own)), own]
    return float(np.log(np.maximum(chances, 1 / len(attribute))).mean())


def _shares(distances: np.ndarray, attribute: np.ndarray, values: int) -> np.ndarray:
    """(m, values): each value's share of the kernels exp(-D) at distances (m, n) of known rows with an attribute."""
    logs = np.full((len(distances), values), -np.inf)
    for value in np.unique(attribute):
        logs[:, value] = logsumexp(-distances[:, attribute == value], axis=1)
    shares: np.ndarray = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    return shares
