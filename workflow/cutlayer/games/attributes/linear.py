"""Linear decoders of an attribute from features of any shape, as scikit-learn has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

STEPS = 1000  # at most; it has converged long before
Ask = Callable[[np.ndarray], np.ndarray]  # features (n, ...) -> (n, values) probabilities


def regression(known: np.ndarray, attribute: np.ndarray, values: int) -> Ask:
    """Logistic regression on standardized features (n, ...), attribute (n,); the penalty is scikit-learn's."""
    return _fitted(make_pipeline(StandardScaler(), LogisticRegression(max_iter=STEPS)), known, attribute, values)


def discriminant(known: np.ndarray, attribute: np.ndarray, values: int) -> Ask:
    """The linear discriminant of features (n, ...), attribute (n,), with each value's covariance shrunk.

    Ledoit, Wolf, "A Well-Conditioned Estimator for Large-Dimensional Covariance Matrices".
    """
    wide = known[0].size > len(known)
    model = WideDiscriminant() if wide else LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    return _fitted(model, known, attribute, values)


class WideDiscriminant:
    """The same discriminant where features outnumber rows: what costs d^3 in d features then costs d n^2 with n rows.

    The shrunk covariance is a diagonal D and n rows U, D + U^T U, and by Woodbury its inverse is
    D^-1 - D^-1 U^T (1 + U D^-1 U^T)^-1 U D^-1. scikit-learn's writes the covariance down.
    """

    def fit(self, features: np.ndarray, attribute: np.ndarray) -> None:
        """Learn from features (n, d) and their attribute (n,)."""
        groups = [features[attribute == value] for value in np.unique(attribute)]
        shares = np.array([len(group) / len(features) for group in groups])
        parts = [_shrunk(group, share) for group, share in zip(groups, shares, strict=True)]
        diagonal, rows = np.sum([own for own, _ in parts], axis=0), np.concatenate([own for _, own in parts])
        means = np.stack([group.mean(axis=0) for group in groups])
        inverse = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)  # 0: nothing to tell from
        inner = np.linalg.solve(np.eye(len(rows)) + rows * inverse @ rows.T, rows @ (means * inverse).T)
        self.weights = (means - inner.T @ rows) * inverse
        self.offsets = np.log(shares) - (means * self.weights).sum(axis=1) / 2

    def predict_proba(self, features: np.ndarray) -> np.ndarray:
        """(m, values) float64 of features (m, d)."""
        found: np.ndarray = softmax(features @ self.weights.T + self.offsets, axis=1)
        return found


def _shrunk(group: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """The diagonal (d,) and the rows (n, d) of a value's covariance, shrunk after its features are standardized."""
    scaler = StandardScaler().fit(group)
    rows, units = scaler.transform(group), scaler.scale_
    shrinkage = ledoit_wolf_shrinkage(rows, assume_centered=True)
    diagonal = share * shrinkage * np.square(rows).mean() * np.square(units)
    return diagonal, np.sqrt(share * (1 - shrinkage) / len(group)) * rows * units


def _fitted(model: Any, known: np.ndarray, attribute: np.ndarray, values: int) -> Ask:
    """A value that no row has gets the probability 0; where all rows have one value, that is the guess."""
    present = np.unique(attribute)
    if len(present) == 1:
        return lambda features: np.tile(np.eye(values)[present], (len(features), 1))
    model.fit(_vectors(known), attribute)

    def ask(features: np.ndarray) -> np.ndarray:
        scores = np.zeros((len(features), values))
        scores[:, present] = model.predict_proba(_vectors(features))
        return scores

    return ask


def _vectors(features: np.ndarray) -> np.ndarray:
    return features.reshape(len(features), -1).astype(np.float64)
