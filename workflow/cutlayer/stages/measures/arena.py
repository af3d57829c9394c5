"""Effective dimension of the gradients of a class; marvell's theorem assumes that they are isotropic.

Li et al., theorem 1: each class is an isotropic normal distribution. A small sample in many dimensions never looks
isotropic, so each class is compared with as many rows of an isotropic normal distribution.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from cutlayer.stages.theory import Case
from cutlayer.theory.marvell import dimension

CLASSES = {"negatives": 0, "positives": 1}
FEWEST = 3  # rows of a class in a batch that say something of their spread
Rows = Iterator[dict[str, Any]]


def measure(seen: Mapping[str, np.ndarray], truth: Mapping[str, np.ndarray], case: Case) -> Rows:
    """Rows (direction, metric, value) for one seed of a split run, means over its recorded batches.

    `share_of_<class>` is the share of the variance along the first k principal axes, the direction being k, and
    `dimension_of_<class>` the effective dimension. `<metric>_alike` is that of the isotropic rows.
    """
    for name, label in CLASSES.items():
        batches = [g[own == label] for g, own in zip(seen["gradients"], truth["labels"], strict=True)]
        batches = [rows for rows in batches if len(rows) >= FEWEST]
        if not batches:
            yield {"metric": "", "value": None, "skipped": f"for batches with {FEWEST} {name}"}
            continue
        draw = case.generator(name)
        alike = [draw.standard_normal(rows.shape) for rows in batches]
        for suffix, of in (("", batches), ("_alike", alike)):
            yield {"metric": f"dimension_of_{name}{suffix}", "value": float(np.mean([dimension(rows) for rows in of]))}
            for direction, share in enumerate(np.mean([_shares(rows) for rows in of], axis=0), start=1):
                yield {"direction": direction, "metric": f"share_of_{name}{suffix}", "value": float(share)}


def _shares(rows: np.ndarray) -> np.ndarray:
    """Share of the variance of rows (n, d) along the first k principal axes, for each k, as (d,)."""
    lengths = np.linalg.svd(rows.astype(np.float64) - rows.mean(axis=0, dtype=np.float64), compute_uv=False)
    reached = np.cumsum(np.square(lengths / (lengths.max() or 1)))
    return np.pad(reached / (reached[-1] or 1), (0, max(rows.shape[1] - len(reached), 0)), mode="edge")
