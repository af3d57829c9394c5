"""Calibration of predicted probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cutlayer.core.errors import InputError


def adaptive_calibration_error(probabilities: ArrayLike, labels: ArrayLike, bins: int = 15) -> float:
    """Adaptive calibration error of N x K probabilities and N labels: mean |accuracy - confidence| over adaptive bins.

    The bins of a class are `numpy.array_split` of the predictions in the (stable) order of their confidence in it;
    fewer predictions than bins are a bin each. Probabilities outside [0, 1] and labels that are not classes are an
    InputError.

    Nixon et al., "Measuring Calibration in Deep Learning", 2019.
    """
    confidence, classes = np.asarray(probabilities, dtype=np.float64), np.asarray(labels)
    _check(confidence, classes, bins)
    order = np.argsort(confidence, axis=0, kind="stable")
    sure = np.take_along_axis(confidence, order, axis=0)
    right = classes[order] == np.arange(confidence.shape[1])
    parts = np.array_split(right - sure, min(bins, len(sure)))
    return float(np.mean([np.abs(part.mean(axis=0)) for part in parts]))


def _check(confidence: np.ndarray, classes: np.ndarray, bins: int) -> None:
    where = "metric.adaptive_calibration_error"
    if bins < 1:
        raise InputError(where, f"bins = {bins}", "at least 1")
    if confidence.ndim != 2 or 0 in confidence.shape or classes.shape != confidence.shape[:1]:
        shapes = f"the shapes are {confidence.shape} and {classes.shape}"
        raise InputError(where, shapes, "a row of probabilities and one label for each prediction")
    if not ((confidence >= 0) & (confidence <= 1)).all():
        raise InputError(where, "a probability is not from 0 to 1", "NaN is refused")
    if not np.isin(classes, np.arange(confidence.shape[1])).all():
        raise InputError(where, "a label is not a class", f"expected 0 to {confidence.shape[1] - 1}")
