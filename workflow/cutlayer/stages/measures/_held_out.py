"""Attribute inference by adversaries of several kinds on representations of held-out rows.

Each is fitted to half of the known rows, and calibrated on the other half (Guo et al., "On Calibration of Modern Neural
Networks", temperature scaling), which also ranks them; the attacked rows serve for measuring only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import softmax
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

COMPONENTS = 64  # principal ones of wider representations; an adversary is no stronger for those left out
TEMPERATURES = (-4.0, 4.0)  # their base-2 logarithms


def retrained(
    known: np.ndarray, attribute: np.ndarray, attacked: np.ndarray, values: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """Calibrated probabilities (m, values) of the attacked representations (m, ...) for each adversary, the best first.

    `known` (n, ...) are representations whose `attribute` (n,) is known. One adversary uses no representation.
    """
    order, seed = rng.permutation(len(known)), int(rng.integers(2**32))
    places = np.array_split(order, 2)
    fitted, held, target = _reduced([known[places[0]], known[places[1]], attacked], seed)
    own, other = attribute[places[0]], attribute[places[1]]
    found = []
    for method in _adversaries(own, seed):
        method.fit(fitted, own)
        before = _probabilities(method, held, values, len(own))
        temperature = _temperature(before, other)
        theirs = _scaled(_probabilities(method, target, values, len(own)), temperature)
        found.append((cross_entropy(_scaled(before, temperature), other), theirs))
    return [probabilities for _, probabilities in sorted(found, key=lambda pair: pair[0])]


def cross_entropy(probabilities: np.ndarray, attribute: np.ndarray) -> float:
    """Cross-entropy in bits of probabilities (n, values) at the true values (n,).

    For rows independent of the probabilities it is at least H(u | r), up to sampling error.
    """
    return float(-np.log2(probabilities[np.arange(len(attribute)), attribute]).mean())


def _reduced(parts: list[np.ndarray], seed: int) -> list[np.ndarray]:
    """Flattened and standardized parts; wide ones reduced to the leading principal components of the first part."""
    flat = [part.reshape(len(part), -1).astype(np.float64) for part in parts]
    width = min(COMPONENTS, *flat[0].shape)
    method = make_pipeline(StandardScaler(), PCA(width, random_state=seed)).fit(flat[0])
    return [method.transform(part) for part in flat]


def _adversaries(attribute: np.ndarray, seed: int) -> list[Any]:
    """Unfitted classifiers; only the one that ignores representations if a single value is known."""
    if len(np.unique(attribute)) < 2:
        return [DummyClassifier()]
    return [
        DummyClassifier(),
        LogisticRegression(C=0.1, max_iter=300),
        KNeighborsClassifier(min(15, len(attribute))),
        ExtraTreesClassifier(20, min_samples_leaf=3, random_state=seed),
    ]


def _probabilities(method: Any, rows: np.ndarray, values: int, fitted: int) -> np.ndarray:
    """Predicted probabilities (n, values), none of them 0, smoothed by the rule of succession."""
    found = np.zeros((len(rows), values))
    found[:, method.classes_] = method.predict_proba(rows)
    return (fitted * found + 1) / (fitted + values)


def _temperature(probabilities: np.ndarray, attribute: np.ndarray) -> float:
    """Temperature that minimizes the cross-entropy."""

    def loss(power: float) -> float:
        return cross_entropy(_scaled(probabilities, 2**power), attribute)

    return float(2 ** minimize_scalar(loss, bounds=TEMPERATURES, method="bounded").x)


def _scaled(probabilities: np.ndarray, temperature: float) -> np.ndarray:
    return softmax(np.log(probabilities) / temperature, axis=1)
