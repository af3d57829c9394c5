"""Figure 1 of the marvell paper: the factors of a gradient's norm for positives and negatives.

The norm is |p - y| times the norm of the slope of h. The losses separate the two, as |p - y| = 1 - exp(-loss).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from cutlayer.core import failures
from cutlayer.metrics.leakage import leak_auc
from cutlayer.stages.theory import Case

STEPS = (100, 200, 300, 400)
QUANTILES = np.linspace(0, 1, 41)
Rows = Iterator[dict[str, Any]]


def measure(seen: Mapping[str, np.ndarray], truth: Mapping[str, np.ndarray], case: Case) -> Rows:
    """Rows (setting, quantile, metric, value) for one seed of an undefended split run.

    For each quantity q the quantile functions `q_positive` and `q_negative`, and, without a quantile,
    `leak_auc_of_q`. The setting is the step; of a step that was not recorded there is a row that says so.
    """
    recorded = [int(step) for step in seen["steps"]]
    for step in STEPS:
        setting = {"setting": f"step={step}"}
        reason = _lacks(step, recorded, truth["labels"])
        if reason:
            yield setting | {"metric": "", "value": None, "skipped": reason}
            continue
        place = recorded.index(step)
        for row in _of_a_batch(seen["gradients"][place], truth["losses"][place], truth["labels"][place]):
            yield setting | row


def _lacks(step: int, recorded: list[int], labels: np.ndarray) -> str:
    """Reason why a step cannot be measured; empty if it can."""
    if step not in recorded:
        return f"{failures.REDUCED}step {step} is not recorded, the last is {max(recorded)}"
    return "" if len(np.unique(labels[recorded.index(step)])) == 2 else "for batches with both classes"


def _of_a_batch(gradients: np.ndarray, losses: np.ndarray, labels: np.ndarray) -> Rows:
    for name, (values, own) in quantities(gradients, losses, labels).items():
        if len(np.unique(own)) < 2:
            continue
        for label, kind in ((1, "positive"), (0, "negative")):
            found = np.quantile(values[own == label], QUANTILES)
            for level, value in zip(QUANTILES, found, strict=True):
                yield {"quantile": float(level), "metric": f"{name}_{kind}", "value": float(value)}
        yield {"metric": f"leak_auc_of_{name}", "value": leak_auc(values, own)}


def quantities(
    gradients: np.ndarray, losses: np.ndarray, labels: np.ndarray
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Quantities of section 3.2, from gradients (B, d), losses (B,) and labels (B,), each with the labels.

    `residual` |p - y|, `slope_norm` the norm of the slope of h, `gradient_norm` their product. Where p = y to all
    digits the slope is unknown: those examples are left out of it.
    """
    residual = -np.expm1(-losses.astype(np.float64))
    norm = np.linalg.norm(gradients.astype(np.float64), axis=1)
    known = residual > 0
    return {
        "residual": (residual, labels),
        "slope_norm": (norm[known] / residual[known], labels[known]),
        "gradient_norm": (norm, labels),
    }
