"""Samples: values by seed with the sampling error of their tested rows, by the metric's kind.

The ledger, tables and figures all take a number's interval from here, so that it has one.
"""

from __future__ import annotations

import math

import numpy as np

from cutlayer.metrics import declared

from .statistics import Sample, Unit

EVERYWHERE = (-math.inf, math.inf)


def of_values(kind: str, values: np.ndarray, errors: np.ndarray, rows: np.ndarray, exact: bool = False) -> Sample:
    """Sample of values (S,), one per seed, of a kind of metric; `errors` and `rows` of its cells (unknown: nan, 0)."""
    if kind in declared.IN_UNIT:
        return Sample(values, known(errors), exact, unit=unit(kind, rows))
    return Sample(values, known(errors), exact, ends=(0.0, math.inf) if kind in declared.FROM_0 else EVERYWHERE)


def unit(kind: str, rows: np.ndarray, shift: float = 0.0) -> Unit:
    """Scale of values in [0, 1] minus a constant; an AUC has at most half the error of a share."""
    return Unit(fewest(rows), 0.5 if kind == declared.AUC else 1.0, shift)


def known(errors: np.ndarray) -> float:
    """Mean of the known values; 0 if none is known."""
    there = errors[~np.isnan(errors)]
    return float(there.mean()) if len(there) else 0.0


def fewest(rows: np.ndarray) -> float:
    """Least number of rows of any seed and place; 0 if unknown."""
    return float(np.nan_to_num(np.fmin.reduce(rows)))
