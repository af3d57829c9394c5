"""Classes by similarity: places of rows, of which a few have known labels, to a score for each class.

Liu et al., "Similarity-based Label Inference Attack against Training and Inference of Split Learning".
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from cutlayer.core.transcript import View

from ._directions import directions
from ._epochs import lacks_epochs


def too_few(labels: np.ndarray, classes: int, known: int) -> str:
    """Why an attack that knows `known` labels of each class does not apply to known labels (m,); empty if it does."""
    fewest = int(np.bincount(labels, minlength=classes).min())
    return "" if fewest >= known else f"for {known} known labels of each class, here there are {fewest}"


def lacks_known(view: View, epochs: str, known: int) -> str:
    """Why an attack on tracked records, `known` of each class, does not apply to these epochs; empty if it does."""
    labels = view.known_labels if "known_labels" in view else np.zeros(0, dtype=int)
    return lacks_epochs(view, epochs) or too_few(labels, int(view.classes), known)


def first_of_each(labels: np.ndarray, classes: int, known: int) -> np.ndarray:
    """Places, in order, of the first `known` labels of each class among labels (m,)."""
    return np.sort(np.concatenate([np.flatnonzero(labels == label)[:known] for label in range(classes)]))


def scores(points: np.ndarray, known: np.ndarray, labels: np.ndarray, form: str, seed: int) -> np.ndarray:
    """Scores (n, k) of the classes of points (n, D); rows `known` (m,) have these `labels` (m,), each class has one.

    `nearest`: minus the least squared distance to a class's known rows. `kmeans`: K-means that begins at one known row
    a class, then minus the squared distance to the center that is named after the class. `spectral`: the same on the
    first k axes of the normalized affinity 1 + cosine. `logistic`: log-probabilities of a ridge logistic regression.
    """
    points, classes = np.asarray(points, dtype=np.float64), int(labels.max()) + 1
    if form == "logistic":
        unit = points / (np.sqrt(np.square(points).sum(axis=1).mean()) or 1)
        fitted = LogisticRegression(max_iter=1000).fit(unit[known], labels)
        return np.asarray(fitted.predict_log_proba(unit))
    if form == "nearest":
        apart = _squared(points, points[known])
        return -np.stack([apart[:, labels == label].min(axis=1) for label in range(classes)], axis=1)
    places = spectrum(points, classes) if form == "spectral" else points
    start = places[known[[np.flatnonzero(labels == label)[0] for label in range(classes)]]]
    with warnings.catch_warnings():  # a defense may make rows equal, so that clusters stay empty
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = KMeans(classes, init=start, n_init=1, random_state=seed).fit(places)
    return -_squared(places, found.cluster_centers_[named(found.labels_[known], labels, classes)])


def guess_of(found: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The guess about tracked records from scores (W, k): (W,) for two classes; NaN for known records."""
    guess = found[:, 1] - found[:, 0] if found.shape[1] == 2 else found.copy()
    guess[known] = np.nan
    return guess


def named(found: np.ndarray, labels: np.ndarray, classes: int) -> np.ndarray:
    """The cluster (k,) of each class, one each, that agrees most with known rows' clusters (m,) and labels (m,)."""
    votes = np.zeros((classes, classes))
    np.add.at(votes, (labels, found), 1)
    return linear_sum_assignment(-votes)[1]


def spectrum(points: np.ndarray, axes: int) -> np.ndarray:
    """Rows (n, axes) of the eigenvectors of D^-1/2 A D^-1/2, over sqrt(D), for the affinity A = 1 + cosine, D its sums.

    A is the product of the directions with a column of ones, so that no n x n matrix is needed.
    """
    half = np.hstack([np.ones((len(points), 1)), directions(points)])
    root = np.sqrt(half @ half.sum(axis=0))[:, None]
    vectors, sizes, _ = np.linalg.svd(half / root, full_matrices=False)
    there = sizes[:axes] > sizes[0] * len(points) * np.finfo(float).eps  # an axis of no size is any
    return np.asarray(vectors[:, :axes] * there / root * np.sqrt(len(points)))


def _squared(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Squared distances (n, m), of which none is negative."""
    product = points @ others.T
    sizes = np.square(points).sum(axis=1)[:, None] + np.square(others).sum(axis=1)
    return np.maximum(sizes - 2 * product, 0)
