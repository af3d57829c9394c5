"""Utility metrics of a classifier: of class probabilities (N, k) and labels (N,)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .calibration import adaptive_calibration_error
from .leakage import auc_error, leak_auc


def utility_of(scores: np.ndarray, labels: np.ndarray) -> float:
    """Utility of (N, k) scores: AUC for two classes (½ where one is missing), accuracy for more."""
    if scores.shape[1] > 2:
        return float(np.mean(scores.argmax(axis=1) == labels))
    auc = leak_auc(scores[:, 1], labels)
    return 0.5 if auc is None else auc


def utility(scores: np.ndarray, labels: np.ndarray) -> Iterator[dict[str, Any]]:
    """Test metrics of (N, k) scores: AUC or accuracy, log loss, and calibration error.

    Also the number of tested `rows`, the share of their most common class (`task_majority`), the standard error of the
    AUC (`test_auc_error`), and the `test_utility` of random guessing (`chance`).
    """
    own = scores[np.arange(len(labels)), labels]
    common = float(np.bincount(labels).max() / len(labels))
    yield {"metric": "rows", "value": float(len(labels))}
    yield {"metric": "task_majority", "value": common}
    yield {"metric": "chance", "value": 0.5 if scores.shape[1] == 2 else common}
    yield {"metric": "test_utility", "value": utility_of(scores, labels)}
    if scores.shape[1] == 2:
        yield {"metric": "test_auc", "value": utility_of(scores, labels)}
        if (error := auc_error(scores[:, 1], labels)) is not None:
            yield {"metric": "test_auc_error", "value": error}
    yield {"metric": "test_accuracy", "value": float(np.mean(scores.argmax(axis=1) == labels))}
    yield {"metric": "test_log_loss", "value": float(-np.log(np.clip(own, 1e-12, 1)).mean())}
    yield {"metric": "ace", "value": adaptive_calibration_error(np.clip(scores, 0, 1), labels)}
