"""The chance of a label given a row's features, as models that never saw the row estimate it.

Two candidates: logistic regression on numbers and one-hots of hashed categories, and gradient boosting on numbers and
target-encoded categories. Each is calibrated by a logistic function of its score (Platt) that is fitted out of fold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler, TargetEncoder

FOLDS = 3
BUCKETS = 2**16  # of hashed categories
PRIMES = np.array([2654435761, 40503], dtype=np.uint64)  # of multiplicative hashing
SURE = 1e-6  # chances are that far from 0 and 1 at least, so that their log-odds are finite


@dataclass(frozen=True)
class Columns:
    """Which of a table's columns are numbers, and which are categories."""

    numbers: list[int]
    codes: list[int]


def estimates(
    features: np.ndarray, label: np.ndarray, codes: list[int], others: np.ndarray, seed: int
) -> dict[str, np.ndarray]:
    """Chances (m,) float32 of label 1 of other rows (m, ...), from each candidate by its name.

    The candidates are fitted to `features` (n, ...) and their `label` (n,), of which each of 0 and 1 occurs at least
    FOLDS times; `codes` are the columns that are categories.
    """
    rows, others = (part.reshape(len(part), -1).astype(np.float64) for part in (features, others))
    columns = Columns([place for place in range(rows.shape[1]) if place not in codes], codes)
    found = {}
    for name, candidate in CANDIDATES.items():
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        model = CalibratedClassifierCV(candidate(columns, folds, seed), method="sigmoid", cv=folds, ensemble=False)
        chance = model.fit(rows, label).predict_proba(others)[:, 1]
        found[name] = chance.clip(SURE, 1 - SURE).astype(np.float32)
    return found


def log_loss(chance: np.ndarray, label: np.ndarray) -> float:
    """Mean log loss in nats of chances (n,) of label 1."""
    return float(-np.log(np.where(label == 1, chance, 1 - chance)).mean())


def _logistic(columns: Columns, folds: StratifiedKFold, seed: int) -> Any:
    numbers = make_pipeline(FunctionTransformer(_logs), StandardScaler())
    codes = FunctionTransformer(_hashed)
    encoded = make_column_transformer((numbers, columns.numbers), (codes, columns.codes), sparse_threshold=1.0)
    return make_pipeline(encoded, LogisticRegression(C=0.1, max_iter=300))


def _boosting(columns: Columns, folds: StratifiedKFold, seed: int) -> Any:
    encoded = make_column_transformer(
        (TargetEncoder(target_type="binary", cv=folds), columns.codes), remainder="passthrough"
    )
    trees = HistGradientBoostingClassifier(learning_rate=0.06, max_iter=80, max_leaf_nodes=15, random_state=seed)
    return make_pipeline(encoded, trees)


CANDIDATES: dict[str, Callable[[Columns, StratifiedKFold, int], Any]] = {"logistic": _logistic, "boosting": _boosting}


def _logs(numbers: np.ndarray) -> np.ndarray:
    return np.asarray(np.sign(numbers) * np.log1p(np.abs(numbers)))


def _hashed(codes: np.ndarray) -> csr_array:
    """One-hots (n, BUCKETS) of the categories (n, k) of all columns, hashed into shared buckets."""
    columns = np.arange(codes.shape[1], dtype=np.uint64)
    mixed = codes.astype(np.uint64) * PRIMES[0] + columns * PRIMES[1]
    place = (mixed >> np.uint64(7)) % np.uint64(BUCKETS)
    starts = np.arange(0, place.size + 1, codes.shape[1])
    return csr_array((np.ones(place.size), place.astype(np.int64).ravel(), starts), shape=(len(codes), BUCKETS))
