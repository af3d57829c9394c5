"""Leak of tracked records' labels beyond what their features predict, where the truth has each row's `row_prior`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cutlayer.core.transcript import Arrays
from cutlayer.metrics.beyond import adjusted_auc, best_auc
from cutlayer.metrics.leakage import auc_error, leak_auc

SUFFICE = "features tell (nearly) everything: see coins"


def of_score(score: np.ndarray, labels: np.ndarray, prior: np.ndarray) -> dict[str, float]:
    """The adjusted AUC of an attack's score (m,), and its standard error."""
    found = adjusted_auc(score, labels, prior)
    return {} if found is None else {"leak_auc_adjusted": found[0], "leak_auc_adjusted_error": found[1]}


def of_features(truth: Arrays, bound: float | None, drawn_once: bool) -> Iterator[dict[str, Any]]:
    """What features alone predict, the self-test (the prior's own adjusted AUC), and the largest AUC of features and
    releases under a `bound` on what releases reveal of a label.

    Where features suffice, a reason stands in place of every attack's adjusted AUC.
    """
    prior, labels = truth.get("row_prior"), truth.get("watched_labels")
    found = None if prior is None or labels is None else adjusted_auc(prior, labels, prior)
    if found is None or prior is None or labels is None:
        return
    yield {"metric": "features_auc", "value": leak_auc(prior, labels)}
    yield {"metric": "features_auc_error", "value": auc_error(prior, labels)}
    yield {"metric": "features_auc_adjusted", "value": found[0]}
    yield {"metric": "features_auc_adjusted_error", "value": found[1]}
    if bound is not None:
        yield {"metric": "promise_with_features", "value": best_auc(bound, labels, prior, drawn_once)}
    if truth["row_prior_suffices"]:
        yield {"metric": "leak_auc_adjusted", "value": None, "skipped": SUFFICE}
