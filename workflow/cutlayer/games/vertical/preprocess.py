"""Preprocessing of a table to features in [0, 1], by target encoding and min-max scaling.

The paper computes the statistics on all rows, test rows and their labels included; with
`fit_on="train"` they are of the training rows alone, and values outside their range are clipped.

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning".
"""

from __future__ import annotations

import numpy as np

from cutlayer.core.errors import InputError, nearest
from cutlayer.data.datasets.base import Table

FIT_ON = ("all", "train")


def prepare(table: Table, train_rows: np.ndarray, fit_on: str) -> tuple[np.ndarray, np.ndarray]:
    """Encode and scale a table; return (X, encoded), both (n, d) float64: features in [0, 1], and before scaling.

    In `encoded` each category is replaced by the mean label of its rows, for more than two classes
    the mean of the class index; all other columns are in original units. X is min-max scaled. (The
    paper's words are "mapped to its average in each class"; it has one column per feature, as here.)

    `train_rows` are row numbers (m,) or a mask (n,); `fit_on` names the rows of which means, minima
    and maxima are taken: "all" (the paper) or "train". A category that the fitted rows do not have gets the mean
    label of all of them, and a column that is constant in them becomes 0.

    Raises:
        InputError: `fit_on` is another word, or there are no training rows to fit on.

    """
    if fit_on not in FIT_ON:
        raise InputError("preprocess.fit_on", f"there is no {fit_on!r}", nearest(fit_on, FIT_ON))
    rows = np.arange(len(table.labels)) if fit_on == "all" else np.arange(len(table.labels))[train_rows]
    if len(rows) == 0:
        raise InputError("preprocess.train_rows", "is empty", "expected at least one row to fit on")
    encoded = table.features.copy()
    for name in table.categorical:
        column = table.feature_names.index(name)
        encoded[:, column] = target_mean(table.features[:, column].astype(np.int64), table.labels, rows)
    return min_max(encoded, rows), encoded


def target_mean(codes: np.ndarray, labels: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Target encoding: replace each code (n,) by the mean label (n,) of those `rows` (m,) that have this code."""
    levels = codes.max() + 1
    counts = np.bincount(codes[rows], minlength=levels)
    sums = np.bincount(codes[rows], weights=labels[rows], minlength=levels)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), labels[rows].mean())
    return means[codes]


def min_max(features: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Min-max scale columns (n, d) so that those `rows` (m,) span [0, 1]; clip the others, set constants to 0."""
    low, high = features[rows].min(axis=0), features[rows].max(axis=0)
    constant = high == low
    scaled = (features - low) / np.where(constant, 1.0, high - low)
    return np.where(constant, 0.0, scaled.clip(0.0, 1.0))
