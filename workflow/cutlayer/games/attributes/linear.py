"""Linear decoders of an attribute from features of any shape, as scikit-learn has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
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
    return _fitted(LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"), known, attribute, values)


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
