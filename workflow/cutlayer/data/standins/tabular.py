"""tabular: a stand-in table with a dataset's declared columns, sizes, class rates and marginals.

Each row is a Gaussian around its class's center with a few shared factors, so that columns are
correlated and the label can be learned in part; each column is then mapped through its rank onto
the declared marginal, a monotone map that keeps the dependence and fixes the values.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cutlayer.core.seeds import generator
from cutlayer.data.datasets.base import Dataset, Marginal, Table

FACTORS = 4
SPREAD = 0.6  # standard deviation of the class centers per column, in units of the noise


def stand_in(dataset: Dataset) -> Table:
    """Generate the stand-in of a dataset: the same table on every call, for it is seeded by the name."""
    draw = generator("stand-in", dataset.name)
    labels = balanced(dataset, draw)
    names, attributes = dataset.feature_names, list(dataset.attributes)
    ranks = _ranks(labels, dataset.classes, len(names) + len(attributes), draw)
    columns = [_feature(dataset, name, ranks[:, i]) for i, name in enumerate(names)]
    table = np.stack(columns, axis=1)
    sensitive = {a: coded(dataset.attributes[a], ranks[:, len(names) + i]) for i, a in enumerate(attributes)}
    repeated = [a for a in attributes if isinstance(dataset.schema.get(a), (int, Mapping))]  # the same column, then
    sensitive |= {a: table[:, names.index(a)] for a in repeated}
    return dataset.table(table, labels, sensitive)


def balanced(dataset: Dataset, draw: np.random.Generator) -> np.ndarray:
    """Labels (n,) in random order; the class counts are the declared rates, rounded."""
    rates = np.cumsum(dataset.class_rates) / np.sum(dataset.class_rates)
    counts = np.diff(np.round(rates * dataset.rows).astype(int), prepend=0)
    return draw.permutation(np.repeat(np.arange(dataset.classes), counts))


def _ranks(labels: np.ndarray, classes: int, columns: int, draw: np.random.Generator) -> np.ndarray:
    """Dependent columns (n, columns), each uniform on (0, 1)."""
    center = SPREAD * draw.standard_normal((classes, columns))
    loading = draw.standard_normal((FACTORS, columns)) / np.sqrt(FACTORS)
    latent = draw.standard_normal((len(labels), FACTORS)) @ loading
    latent += draw.standard_normal(latent.shape) + center[labels]
    return (latent.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable") + 0.5) / len(labels)


def _feature(dataset: Dataset, name: str, rank: np.ndarray) -> np.ndarray:
    levels = dataset.categorical.get(name)
    return valued(dataset.marginal(name), rank) if levels is None else coded(levels, rank)


def coded(levels: int, rank: np.ndarray) -> np.ndarray:
    """Codes 0..levels-1 whose rates fall like 1, 1/2, 1/3, ...: few common levels and many rare ones."""
    return _at_rates(np.arange(levels), 1 / np.arange(1, levels + 1), rank)


def valued(marginal: Marginal, rank: np.ndarray) -> np.ndarray:
    """A column (n,) with a marginal, in the order of some ranks, each between 0 and 1."""
    if not isinstance(marginal, tuple):
        values = sorted(marginal)
        return _at_rates(np.array(values), np.array([marginal[value] for value in values]), rank)
    column = np.interp(rank, np.linspace(0, 1, len(marginal)), marginal)
    return np.round(column) if all(isinstance(value, int) for value in marginal) else column


def _at_rates(values: np.ndarray, rates: np.ndarray, rank: np.ndarray) -> np.ndarray:
    edges = np.cumsum(rates)[:-1] / rates.sum()
    return values[np.searchsorted(edges, rank)]
