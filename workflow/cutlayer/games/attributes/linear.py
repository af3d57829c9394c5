"""Linear attribute decoders: logistic regression and linear discriminant analysis on features of any shape."""

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
Predictor = Callable[[np.ndarray], np.ndarray]  # features (n, ...) -> (n, values) probabilities


def regression(known: np.ndarray, attribute: np.ndarray, values: int) -> Predictor:
    """Logistic regression on standardized features (n, ...), attribute (n,); the penalty is scikit-learn's."""
    return _fitted(make_pipeline(StandardScaler(), LogisticRegression(max_iter=STEPS)), known, attribute, values)


def discriminant(known: np.ndarray, attribute: np.ndarray, values: int) -> Predictor:
    """Linear discriminant analysis on features (n, ...), attribute (n,), with shrunk covariances of each value.

    Ledoit, Wolf, "A Well-Conditioned Estimator for Large-Dimensional Covariance Matrices".
    """
    wide = known[0].size > len(known)
    model = WideDiscriminant() if wide else LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    return _fitted(model, known, attribute, values)


class WideDiscriminant:
    """Linear discriminant analysis for more features than rows, in d n^2 operations in place of d^3.

    The shrunk covariance is D + U^T U with a diagonal D and n rows U, and by Woodbury its inverse is
    D^-1 - D^-1 U^T (1 + U D^-1 U^T)^-1 U D^-1. scikit-learn computes the covariance itself.
    """

    def fit(self, features: np.ndarray, attribute: np.ndarray) -> None:
        """Fit to features (n, d) and their attribute (n,)."""
        groups = [features[attribute == value] for value in np.unique(attribute)]
        shares = np.array([len(group) / len(features) for group in groups])
        parts = [_shrunk(group, share) for group, share in zip(groups, shares, strict=True)]
        diagonal, rows = np.sum([own for own, _ in parts], axis=0), np.concatenate([own for _, own in parts])
        means = np.stack([group.mean(axis=0) for group in groups])
        inverse = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)  # 0: no information
        inner = np.linalg.solve(np.eye(len(rows)) + rows * inverse @ rows.T, rows @ (means * inverse).T)
        self.weights = (means - inner.T @ rows) * inverse
        self.offsets = np.log(shares) - (means * self.weights).sum(axis=1) / 2

    def predict_proba(self, features: np.ndarray) -> np.ndarray:
        """Predicted probabilities (m, values) float64 for features (m, d)."""
        found: np.ndarray = softmax(features @ self.weights.T + self.offsets, axis=1)
        return found


def _shrunk(group: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Diagonal (d,) and rows (n, d) of a value's Ledoit-Wolf covariance, shrunk in standardized units."""
    scaler = StandardScaler().fit(group)
    rows, units = scaler.transform(group), scaler.scale_
    shrinkage = ledoit_wolf_shrinkage(rows, assume_centered=True)
    diagonal = share * shrinkage * np.square(rows).mean() * np.square(units)
    return diagonal, np.sqrt(share * (1 - shrinkage) / len(group)) * rows * units


def _fitted(model: Any, known: np.ndarray, attribute: np.ndarray, values: int) -> Predictor:
    """Fit a model; a value that no row has gets the probability 0, and if all rows have one value it gets 1."""
    present = np.unique(attribute)
    if len(present) == 1:
        return lambda features: np.tile(np.eye(values)[present], (len(features), 1))
    model.fit(_vectors(known), attribute)

    def predict(features: np.ndarray) -> np.ndarray:
        scores = np.zeros((len(features), values))
        scores[:, present] = model.predict_proba(_vectors(features))
        return scores

    return predict


def _vectors(features: np.ndarray) -> np.ndarray:
    return features.reshape(len(features), -1).astype(np.float64)
