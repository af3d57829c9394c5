"""The contract of a dataset: what it declares, what it computes, and what is checked for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from ..errors import InputError

# Evenly spaced quantiles from minimum to maximum (all integers: a column of whole numbers), or the
# rate of each value of a discrete column.
Marginal = tuple[float, ...] | Mapping[float, float]
Schema = Mapping[str, int | Marginal]  # feature -> levels of a categorical one, or marginal of a numeric one
ANY = "*"  # in a schema, stands for every feature of a dataset whose columns have no names


@dataclass(frozen=True)
class Table:
    """n rows of d features, one label each, and sensitive attributes; all arrays share the row order."""

    features: np.ndarray  # (n, d) float64, in original units; categorical columns hold integer codes
    labels: np.ndarray  # (n,) int64 in 0..classes-1
    attributes: Mapping[str, np.ndarray]  # name -> (n,) int64, codes from 0
    feature_names: tuple[str, ...]  # d names
    categorical: tuple[str, ...]  # the features that are codes
    classes: int


class Dataset:
    """A dataset: subclasses declare its shape as literals and read the original files in `load`.

    The literals are what `check` holds any table against, and what a stand-in is generated from.
    """

    kind: ClassVar[str] = "tabular"
    rows: ClassVar[int]
    columns: ClassVar[int]
    classes: ClassVar[int]
    class_names: ClassVar[tuple[str, ...]]  # in the order of the labels
    class_rates: ClassVar[tuple[float, ...]]
    tolerance: ClassVar[float] = 0.001  # how far a class rate may be from the declared one
    schema: ClassVar[Schema]  # all features in the order of the columns, or "*" for features x1, x2, ...
    attributes: ClassVar[Mapping[str, int]] = {}  # sensitive attribute -> number of levels

    @property
    def name(self) -> str:
        """The dataset's name: that of its file."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of all d features, in the order of the columns: as declared, else x1, x2, ..."""
        return tuple(f"x{i + 1}" for i in range(self.columns)) if ANY in self.schema else tuple(self.schema)

    @property
    def categorical(self) -> dict[str, int]:
        """The categorical features and their numbers of levels."""
        return {name: levels for name, levels in self.schema.items() if isinstance(levels, int)}

    def marginal(self, feature: str) -> Marginal:
        """The declared marginal of a numeric feature."""
        declared = self.schema.get(feature, self.schema.get(ANY))
        if declared is None or isinstance(declared, int):
            raise self.error(f"{feature} has no marginal", "it is meant for numeric features")
        return declared

    def load(self, files: Mapping[str, Path]) -> Table:
        """Read the original files, given by their names in data/sources.csv, into a table."""
        raise TypeError(f"dataset.{self.name}: has no `load`; every dataset defines it")

    def table(
        self, features: np.ndarray, labels: np.ndarray, attributes: Mapping[str, np.ndarray] | None = None
    ) -> Table:
        """Make a table of this dataset from arrays in the declared order of columns."""
        return Table(
            features=np.asarray(features, dtype=np.float64),
            labels=np.asarray(labels, dtype=np.int64),
            attributes={k: np.asarray(v, dtype=np.int64) for k, v in (attributes or {}).items()},
            feature_names=self.feature_names,
            categorical=tuple(self.categorical),
            classes=self.classes,
        )

    def codes(self, column: str, values: np.ndarray) -> np.ndarray:
        """Code the values (n,) of a categorical column as places among its levels, sorted."""
        levels, codes = np.unique(values.astype(str), return_inverse=True)
        if len(levels) != self.categorical[column]:
            raise self.error(f"{column} has {len(levels)} levels", f"{self.categorical[column]} expected")
        return codes

    def label_codes(self, values: np.ndarray) -> np.ndarray:
        """Code class names (n,) as their places in `class_names`; another name is an error."""
        unknown = sorted({str(value) for value in np.unique(values)} - set(self.class_names))
        if unknown:
            raise self.error(f"has the class {unknown[0]!r}", f"{', '.join(self.class_names)} expected")
        return np.select([values == name for name in self.class_names], range(self.classes))

    def error(self, wrong: str, allowed: str = "") -> InputError:
        """An error that names this dataset."""
        return InputError(f"dataset.{self.name}", wrong, allowed)

    def check(self, table: Table) -> None:
        """Raise unless `table` has the declared rows, columns, class balance and value ranges, and no NaN."""
        self._check_shape(table)
        self._check_labels(table)
        for name, column in zip(table.feature_names, table.features.T, strict=True):
            self._check_column(name, column)
        for name, levels in self.attributes.items():
            self._check_codes(name, table.attributes[name], levels)

    def _check_shape(self, table: Table) -> None:
        n, d = table.features.shape
        if n != self.rows:
            raise self.error(f"has {n:,} rows", f"{self.rows:,} expected")
        if d != self.columns:
            raise self.error(f"has {d:,} columns", f"{self.columns:,} expected")
        if table.feature_names != self.feature_names or set(table.attributes) != set(self.attributes):
            raise self.error(
                "has other features or attributes than declared", f"{', '.join(self.feature_names)} expected"
            )
        if any(len(column) != n for column in (table.labels, *table.attributes.values())):
            raise self.error("has labels or attributes of another length", f"{n:,} of each expected")
        if not np.isfinite(table.features).all():
            raise self.error("has features that are not finite", "no NaN or infinity is allowed")

    def _check_labels(self, table: Table) -> None:
        self._check_codes("label", table.labels, self.classes)
        rates = np.bincount(table.labels, minlength=self.classes) / len(table.labels)
        for name, rate, expected in zip(self.class_names, rates, self.class_rates, strict=True):
            if abs(rate - expected) > self.tolerance:
                raise self.error(
                    f"has a rate of {rate:.4f} of class {name!r}",
                    f"{expected:.4f} ± {self.tolerance} expected",
                )

    def _check_column(self, name: str, column: np.ndarray) -> None:
        if name in self.categorical:
            return self._check_codes(name, column, self.categorical[name])
        values = tuple(self.marginal(name))
        low, high = min(values), max(values)
        if column.min() < low or column.max() > high:
            found = f"{column.min():g} to {column.max():g}"
            raise self.error(f"{name} ranges from {found}", f"{low:g} to {high:g} expected")

    def _check_codes(self, name: str, codes: np.ndarray, levels: int) -> None:
        if codes.min() < 0 or codes.max() >= levels or (codes != np.floor(codes)).any():
            raise self.error(f"{name} has codes outside its levels", f"integers 0 to {levels - 1} expected")
