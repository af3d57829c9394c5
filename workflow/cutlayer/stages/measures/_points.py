"""Figure 3 of the tappfl paper: t-SNE embeddings of the attacked rows' inputs and representations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.manifold import TSNE

from cutlayer.stages.theory import Case

POINTS = 150  # more would hide one another, and take longer
# The paper's figure has the setting "that achieves the best utility-privacy tradeoff", which it does not name. Where it
# compares TAPPFL with others, on Loans, the test accuracy is 0.84: in table 2 lambda is then 0.75. "": without a sweep.
SETTINGS = ("", "weight=0.75")
SEED = 0  # a mean of several seeds' planes would be none


def points(seen: Mapping[str, np.ndarray], truth: Mapping[str, np.ndarray], case: Case) -> Iterator[dict[str, Any]]:
    """Rows (point, metric, value): x and y in both embeddings, and the attribute as the metric `value`."""
    count = min(POINTS, len(truth["attribute"]))
    if case.setting not in SETTINGS or case.seed != SEED or count < 4:
        return
    rng = case.generator("points")
    rows = np.sort(rng.choice(len(truth["attribute"]), count, replace=False))
    for name, of in (
        ("input", _standardized(truth["attacked_inputs"][rows])),
        ("representation", seen["attacked"][rows]),
    ):
        plane = _plane(of.reshape(count, -1), int(rng.integers(2**32)))
        for axis, coordinates in zip("xy", plane.T, strict=True):
            yield from _rows(f"{name}_{axis}", coordinates)
    yield from _rows("value", truth["attribute"][rows])


def _rows(metric: str, values: np.ndarray) -> Iterator[dict[str, Any]]:
    for place, value in enumerate(values):
        yield {"point": place, "metric": metric, "value": float(value)}


def _standardized(inputs: np.ndarray) -> np.ndarray:
    """Standardized columns of a table; images as they are, since pixels share one unit."""
    if inputs.ndim > 2:
        return inputs / 255
    spread = inputs.std(axis=0)
    return (inputs - inputs.mean(axis=0)) / np.where(spread > 0, spread, 1)


def _plane(rows: np.ndarray, seed: int) -> np.ndarray:
    """Embedding (n, 2) of rows (n, d), d at least 2; if all rows are equal, they lie in the origin."""
    if not np.ptp(rows, axis=0).any():
        return np.zeros((len(rows), 2))
    perplexity = min(30.0, (len(rows) - 1) / 3)
    method = TSNE(perplexity=perplexity, init="pca", random_state=seed, max_iter=500)
    return method.fit_transform(rows.astype(np.float64))
