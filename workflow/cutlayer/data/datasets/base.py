"""Contract of a dataset: its declarations, its reader, and the checks that all datasets share."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from cutlayer.core.errors import InputError, few

# Evenly spaced quantiles from minimum to maximum (all integers: a column of whole numbers), or the
# rate of each value of a discrete column.
Marginal = tuple[float, ...] | Mapping[float, float]
Schema = Mapping[str, int | Marginal]  # feature -> levels of a categorical one, or marginal of a numeric one
ANY = "*"  # in a schema, stands for every feature of a dataset whose columns have no names


# What a kind's features are, which depends on nothing else.
DTYPES: dict[str, np.dtype] = {
    "tabular": np.dtype(np.float64),
    "clicks": np.dtype(np.int32),
    "images": np.dtype(np.uint8),
}
NUMBERS = "biufc"  # kinds of numpy's types
CODES = np.dtype(np.int64)  # of labels and attributes
MAPPED = {"clicks", "images"}  # kinds whose features stay on disk and are read when they are used
HASHES = 2**31  # how many codes a categorical column of clicks can have
MISSING = -(2**31)  # a count that is not there, in clicks; counts may be negative


@dataclass(frozen=True)
class Table:
    """n rows of features, one label each, and sensitive attributes; all arrays share the row order.

    Type and shape of the features depend on the dataset's kind:

    - tabular: (n, d) float64, in original units; categorical columns hold integer codes from 0.
    - clicks: (n, d) int32, numeric columns are whole counts or MISSING, categorical columns hold a hash of the value,
      a whole number from 0 without an upper limit of its own. Mapped from the file, read-only.
    - images: (n, channels, height, width) uint8, no feature names. Mapped from the file, read-only.
    """

    features: np.ndarray
    labels: np.ndarray  # (n,) int64 in 0..classes-1
    attributes: Mapping[str, np.ndarray]  # name -> (n,) int64, codes from 0
    feature_names: tuple[str, ...]  # d names
    categorical: tuple[str, ...]  # the features that are codes
    classes: int


class Dataset:
    """Base class of datasets: subclasses declare their shape as literals and read files in `load` or `parts`.

    `check` compares every table with the literals, and stand-ins are generated from them.
    """

    kind: ClassVar[str] = "tabular"
    rows: ClassVar[int]
    columns: ClassVar[int]
    shape: ClassVar[tuple[int, ...]] = ()  # of one example, where it is not (columns,)
    classes: ClassVar[int]
    class_names: ClassVar[tuple[str, ...]]  # in the order of the labels
    class_rates: ClassVar[tuple[float, ...]]
    tolerance: ClassVar[float] = 0.001  # how far a class rate may be from the declared one
    # All features in the order of the columns, or "*" for features x1, x2, ...; none for images. The levels of clicks
    # are how many values the column has in the original, its marginals are for stand-ins only.
    schema: ClassVar[Schema] = {}
    attributes: ClassVar[Mapping[str, int]] = {}  # sensitive attribute -> number of levels
    values: ClassVar[Mapping[str, tuple[str, ...]]] = {}  # sensitive attribute -> what its codes mean, in their order
    # What other versions than the full one declare otherwise: version in data/sources.csv, or "stand-in" -> literals.
    versions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def of_version(self, version: str) -> Dataset:
        """This dataset with the declarations of one of its versions."""
        other = copy.copy(self)
        vars(other).update(self.versions.get(version, {}))
        return other

    @property
    def name(self) -> str:
        """Name of the dataset, which is that of its file."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of all d features in the order of the columns: as declared, else x1, x2, ..."""
        return tuple(f"x{i + 1}" for i in range(self.columns)) if ANY in self.schema else tuple(self.schema)

    @property
    def categorical(self) -> dict[str, int]:
        """Numbers of levels of the categorical features, by name."""
        return {name: levels for name, levels in self.schema.items() if isinstance(levels, int)}

    def marginal(self, feature: str) -> Marginal:
        """Declared marginal distribution of a numeric feature."""
        declared = self.schema.get(feature, self.schema.get(ANY))
        if declared is None or isinstance(declared, int):
            raise self.error(f"{feature} has no marginal", "only numeric features have one")
        return declared

    def load(self, files: Mapping[str, Path]) -> Table:
        """Read the original files, given by their names in data/sources.csv, into a table."""
        raise TypeError(f"dataset.{self.name}: has no `load`; every dataset defines it")

    def parts(self, files: Mapping[str, Path]) -> Iterator[Table]:
        """Read the original files as tables of consecutive rows: one by default, many where memory is short."""
        yield self.load(files)

    def table(
        self, features: np.ndarray, labels: np.ndarray, attributes: Mapping[str, np.ndarray] | None = None
    ) -> Table:
        """Make a table of this dataset from arrays in the declared order of columns."""
        return Table(
            features=self._exactly("features", features, DTYPES[self.kind]),
            labels=self._exactly("labels", labels, CODES),
            attributes={k: self._exactly(k, v, CODES) for k, v in (attributes or {}).items()},
            feature_names=self.feature_names,
            categorical=tuple(self.categorical),
            classes=self.classes,
        )

    def codes(self, column: str, values: np.ndarray) -> np.ndarray:
        """Codes (n,) of a categorical column: indices among its sorted levels."""
        levels, codes = np.unique(np.asarray(values).astype(str), return_inverse=True)
        if len(levels) != self.categorical[column]:
            raise self.error(f"{column} has {len(levels)} levels", f"expected {self.categorical[column]}")
        return codes

    def label_codes(self, values: np.ndarray) -> np.ndarray:
        """Code class names (n,), or numbers written like them, as places in `class_names`; another name is an error."""
        texts = np.asarray(values).astype(str)
        unknown = sorted(set(np.unique(texts).tolist()) - set(self.class_names))
        if unknown:
            raise self.error(f"has the class {unknown[0]!r}", f"expected {few(self.class_names)}")
        return np.select([texts == name for name in self.class_names], range(self.classes))

    def error(self, wrong: str, allowed: str = "") -> InputError:
        """InputError that names this dataset."""
        return InputError(f"dataset.{self.name}", wrong, allowed)

    def check(self, table: Table) -> None:
        """Raise unless `table` has the declared rows, columns, class balance and value ranges, and no NaN."""
        self.check_rows(len(table.features))
        self.check_part(table)
        self.check_rates(self.counts(table))

    def check_part(self, table: Table) -> None:
        """Raise unless some rows are as declared, however many they are."""
        self._check_shape(table)
        self._check_codes("label", table.labels, self.classes)
        if table.features.ndim == 2:
            for name, column in zip(table.feature_names, table.features.T, strict=True):
                self._check_column(name, column)
        for name, levels in self.attributes.items():
            self._check_codes(name, table.attributes[name], levels)

    def check_rows(self, rows: int) -> None:
        """Raise unless there are as many rows as declared."""
        if rows != self.rows:
            raise self.error(f"has {rows:,} rows", f"expected {self.rows:,}")

    def check_rates(self, counts: np.ndarray) -> None:
        """Raise unless the classes are as frequent as declared, given how often each occurs, and two or more occur."""
        if (counts > 0).sum() < 2:
            raise self.error("has rows of one class only", "expected two classes or more")
        for name, rate, expected in zip(self.class_names, counts / counts.sum(), self.class_rates, strict=True):
            if abs(rate - expected) > self.tolerance:
                raise self.error(
                    f"has a rate of {rate:.4f} of class {name!r}",
                    f"expected {expected:.4f} ± {self.tolerance}",
                )

    def counts(self, table: Table) -> np.ndarray:
        """Class counts (classes,)."""
        return np.bincount(table.labels, minlength=self.classes)

    def _exactly(self, what: str, values: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """The values as another type; raise if the conversion changes any of them."""
        given = np.asarray(values)
        if np.ma.is_masked(values):
            raise self.error(f"{what} have values that are masked", "expected a number for each row")
        if given.dtype == dtype:
            return given
        numbers = given if given.dtype.kind in NUMBERS else self._parsed(what, given)
        with np.errstate(invalid="ignore"), warnings.catch_warnings(action="ignore"):
            cast = numbers.astype(dtype)
            # Both ways: numpy compares whole numbers to others as floats, and -1 comes back from an unsigned type.
            lost = (cast != numbers) | (cast.astype(numbers.dtype) != numbers)
        if dtype.kind == "f":
            lost &= numbers == numbers  # NaN stays what it is, and has an error of its own
        if lost.any():
            raise self.error(f"{what} are not {_kept_by(dtype)}", f"{numbers[lost][0]} is among them")
        return cast

    def _parsed(self, what: str, given: np.ndarray) -> np.ndarray:
        """Numbers parsed from texts or objects."""
        if given.dtype.kind not in "OUS":
            raise self.error(f"{what} are of the type {given.dtype}", "expected numbers")
        try:
            return given.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise self.error(f"{what} are not numbers", f"{error}") from None

    def _check_shape(self, table: Table) -> None:
        n, dtype = len(table.features), DTYPES[self.kind]
        shape, expected = table.features.shape[1:], self.shape or (self.columns,)
        if shape != expected and len(shape) == len(expected) == 1:
            raise self.error(f"has {shape[0]:,} columns", f"expected {self.columns:,}")
        if shape != expected:
            raise self.error(f"has examples of the shape {shape}", f"expected {expected}")
        if table.features.dtype != dtype:
            raise self.error(f"has features of the type {table.features.dtype}", f"expected {dtype}")
        if table.feature_names != self.feature_names or set(table.attributes) != set(self.attributes):
            raise self.error("has other features or attributes than declared", f"expected {few(self.feature_names)}")
        if any(len(column) != n for column in (table.labels, *table.attributes.values())):
            raise self.error("has labels or attributes of another length", f"expected {n:,} of each")
        if not np.isfinite(table.features).all():
            raise self.error("has features that are not finite", "no NaN or infinity is allowed")

    def _check_column(self, name: str, column: np.ndarray) -> None:
        if self.kind == "clicks":  # any count may occur, and any hash
            return self._check_codes(name, column, HASHES) if name in self.categorical else None
        if name in self.categorical:
            return self._check_codes(name, column, self.categorical[name])
        values = tuple(self.marginal(name))
        low, high = min(values), max(values)
        if column.min() < low or column.max() > high:
            found = f"{column.min():g} to {column.max():g}"
            raise self.error(f"{name} ranges from {found}", f"expected {low:g} to {high:g}")

    def _check_codes(self, name: str, codes: np.ndarray, levels: int) -> None:
        if codes.min() < 0 or codes.max() >= levels or (codes.dtype.kind == "f" and (codes != np.floor(codes)).any()):
            raise self.error(f"{name} has codes outside its levels", f"expected integers 0 to {levels - 1}")


def _kept_by(dtype: np.dtype) -> str:
    """Range of numbers that a type represents."""
    if dtype.kind == "f":
        return f"numbers that {dtype} keeps exactly"
    bounds = np.iinfo(dtype)
    return "whole numbers" + (f" of {bounds.min} to {bounds.max}" if dtype != CODES else "")
