"""The sample behind a number: one value a seed with what its tested rows do to it, by the metric's kind.

The ledger, tables and figures all take a number's interval from here, so that it has one.
"""

from __future__ import annotations

import math

import numpy as np

from cutlayer.metrics import declared

from .statistics import Sample, Unit

EVERYWHERE = (-math.inf, math.inf)


def of_values(kind: str, values: np.ndarray, errors: np.ndarray, rows: np.ndarray, exact: bool = False) -> Sample:
    """Values (S,), one a seed, of a metric of a kind; `errors` and `rows` of all its cells, nan and 0 if not known."""
    if kind in declared.IN_UNIT:
        return Sample(values, known(errors), exact, unit=unit(kind, rows))
    return Sample(values, known(errors), exact, ends=(0.0, math.inf) if kind in declared.FROM_0 else EVERYWHERE)


def unit(kind: str, rows: np.ndarray, shift: float = 0.0) -> Unit:
    """Where values between 0 and 1 lie, less a constant; no AUC has more than half the error that a share may have."""
    return Unit(fewest(rows), 0.5 if kind == declared.AUC else 1.0, shift)


def known(errors: np.ndarray) -> float:
    """The mean of those that are known; 0 if none is."""
    there = errors[~np.isnan(errors)]
    return float(there.mean()) if len(there) else 0.0


def fewest(rows: np.ndarray) -> float:
    """The least number of rows of any seed and place; 0 if none is known."""
    return float(np.nan_to_num(np.fmin.reduce(rows)))
