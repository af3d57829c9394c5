"""Reconstruction error of features."""

from __future__ import annotations

import numpy as np

from cutlayer.core.errors import InputError


def mse(guess: np.ndarray, truth: np.ndarray) -> float:
    """Mean squared error per feature (equation 7 of the chebyshev paper) of N x d estimates.

    A guess of another shape, or one that is not finite, is an InputError.
    """
    if guess.shape != truth.shape:
        raise InputError("metric.mse", f"the guess has shape {guess.shape}", f"expected {truth.shape}")
    value = float(np.mean(np.square(guess - truth)))
    if not np.isfinite(value):
        raise InputError("metric.mse", "the guess is not finite", "every feature needs a number")
    return value
