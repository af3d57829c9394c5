"""What the feature party's own features say of a score: as numbers, and as a prediction out of fold."""

from __future__ import annotations

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, cross_val_predict

from cutlayer.games.base.snapshot import drawn

FEWEST = 5  # rows that a category needs for a column of its own
FOLDS = 5


def numbers(features: np.ndarray, architecture: np.ndarray) -> np.ndarray:
    """Columns (W, p) of mean 0 and variance 1 for rows of a table or images: counts as logs, categories as one-hots."""
    _, inputs = drawn(architecture)
    flat = features.reshape(len(features), -1).astype(np.float64)
    columns = [np.log1p(np.maximum(flat[:, inputs.numeric], 0)) if inputs.numeric else flat]
    for code in inputs.categorical:
        values, counts = np.unique(flat[:, code], return_counts=True)
        columns.append((flat[:, [code]] == values[counts >= FEWEST]).astype(np.float64))
    found = np.concatenate(columns[bool(inputs.categorical) and not inputs.numeric :], axis=1)
    deviation = found.std(axis=0)
    return (found - found.mean(axis=0))[:, deviation > 0] / deviation[deviation > 0]


def predicted(columns: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Each row's score (W,) as the others' scores and columns (W, p) predict it, by kernel ridge regression."""
    if not columns.shape[1]:
        return np.zeros(len(score))
    model = KernelRidge(alpha=1.0, kernel="rbf", gamma=1 / columns.shape[1])
    unit = (score - score.mean()) / (score.std() or 1)
    return np.asarray(cross_val_predict(model, columns, unit, cv=KFold(FOLDS, shuffle=True, random_state=0)))
