"""The feature party's own features in an attack: as columns of numbers, and as a predictor of an attack's score."""

from __future__ import annotations

import functools

import numpy as np
from scipy.linalg.lapack import dtrtri
from sklearn.metrics.pairwise import rbf_kernel

from cutlayer.games.base.snapshot import parsed

FEWEST = 5  # rows that a category needs for a column of its own
PENALTY = 1.0  # on the squared length of the regression's function
KEPT = 5  # of sets of columns: one for each seed of a run, with which attacks and settings take turns


def numbers(features: np.ndarray, architecture: np.ndarray) -> np.ndarray:
    """Standardized feature columns (W, p) of rows of a table or of images: counts as logs, categories as one-hots."""
    _, inputs = parsed(architecture)
    flat = features.reshape(len(features), -1).astype(np.float64)
    columns = [np.log1p(np.maximum(flat[:, inputs.numeric], 0)) if inputs.numeric else flat]
    for code in inputs.categorical:
        values, counts = np.unique(flat[:, code], return_counts=True)
        columns.append((flat[:, [code]] == values[counts >= FEWEST]).astype(np.float64))
    found = np.concatenate(columns[bool(inputs.categorical) and not inputs.numeric :], axis=1)
    deviation = found.std(axis=0)
    return (found - found.mean(axis=0))[:, deviation > 0] / deviation[deviation > 0]


def predicted(columns: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Leave-one-out predictions (W,) of each row's score from the feature columns (W, p), by kernel ridge regression.

    What is left of a row's score when it is left out is (A score) / diag(A), with A the inverse of the kernel plus the
    penalty: one inverse does for all rows (Wahba, "Spline Models for Observational Data", 1990, 4.2). With L L' the
    kernel plus the penalty it is enough to invert L, a third of the work.
    """
    if not columns.shape[1]:
        return np.zeros(len(score))
    half = _half(columns.tobytes(), columns.shape)
    unit = (score - score.mean()) / (score.std() or 1)
    return np.asarray(unit - half.T @ (half @ unit) / np.square(half).sum(axis=0))


@functools.lru_cache(KEPT)
def _half(content: bytes, shape: tuple[int, int]) -> np.ndarray:
    """The inverse (W, W) of the Cholesky factor L, for the bytes of columns (W, p)."""
    columns = np.frombuffer(content).reshape(shape)
    penalized = rbf_kernel(columns, gamma=1 / shape[1]) + PENALTY * np.eye(shape[0])
    half, _ = dtrtri(np.linalg.cholesky(penalized), lower=1)
    return half
