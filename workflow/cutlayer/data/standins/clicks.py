"""clicks: a stand-in for click logs with the same columns, Zipf-distributed categories and the same click rate.

The label follows a linear model on the logarithms of the counts and on an effect of every category, plus logistic
noise; most columns have a small effect and some have none. Where there are days, rows come day by day and the effects
turn slowly from one set of values into another, so that what was learned on one day serves a little less on the next.
"""

from __future__ import annotations

import numpy as np

from cutlayer.core.seeds import generator
from cutlayer.data.datasets.base import HASHES, MISSING, Dataset, Table

from .tabular import valued

ABSENT = 0.2  # share of a column of counts that is missing: the median of the columns of criteo's sample
EFFECTS = 1_000  # a column's categories share so many effects, the frequent ones have their own
SIGNAL = 2.0  # standard deviation of the linear model, to the noise's 1.8: the model itself has an AUC of 0.87
TURN = 0.05  # radians by which the effects turn in a day
KNUTH = 2_654_435_761  # odd, so that categories and codes are one to one


def stand_in(dataset: Dataset) -> Table:
    """Generate the stand-in of a dataset: the same table on every call, for it is seeded by the name."""
    draw = generator("stand-in", dataset.name)
    days = np.arange(dataset.rows) * dataset.attributes.get("day", 1) // dataset.rows
    columns, score = [], np.zeros(dataset.rows)
    for name in dataset.feature_names:
        levels = dataset.categorical.get(name)
        column, effect = _counts(dataset, name, days, draw) if levels is None else _categories(levels, days, draw)
        columns.append(column)
        score += _weight(draw) * effect
    latent = SIGNAL * (score - score.mean()) / score.std() + draw.logistic(size=dataset.rows)
    clicked = latent.argsort().argsort() >= round(dataset.rows * dataset.class_rates[0])
    return dataset.table(np.stack(columns, axis=1), clicked, dict.fromkeys(dataset.attributes, days))


def _weight(draw: np.random.Generator) -> float:
    """How much a column matters: few columns matter much."""
    return float(draw.standard_normal() ** 3)


def _counts(dataset: Dataset, name: str, days: np.ndarray, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Counts with the declared marginal, some of them missing; their standardized logarithms."""
    counts = valued(dataset.marginal(name), draw.random(len(days)))
    logs = np.log1p(np.maximum(counts, 0))
    here = draw.random(len(days)) >= ABSENT
    return np.where(here, counts, MISSING), np.where(here, (logs - logs.mean()) / logs.std(), 0)


def _categories(levels: int, days: np.ndarray, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Codes of categories, the k-th most frequent in about 1/k of the rows; the categories' effects on those days."""
    ranks = np.floor((levels + 1) ** draw.random(len(days))).astype(np.int64) - 1
    codes = (ranks * KNUTH + int(draw.integers(HASHES))) % HASHES
    first, second = draw.standard_normal((2, EFFECTS))
    effects = np.cos(TURN * days) * first[ranks % EFFECTS] + np.sin(TURN * days) * second[ranks % EFFECTS]
    return codes, effects
