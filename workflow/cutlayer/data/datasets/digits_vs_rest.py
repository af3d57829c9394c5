"""digits_vs_rest: is a handwritten digit an 8? Two classes as unequal as those of clicks, always at hand.

An 8, because a linear model takes it for another digit far more often than, say, a 0: the task is not trivial.

Alpaydin, Kaynak, Optical Recognition of Handwritten Digits, its test part (UCI 80), bundled with scikit-learn.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from sklearn.datasets import load_digits

from .base import Dataset, Schema, Table


class DigitsVsRest(Dataset):
    """1,797 digits, 64 features row by row, whole numbers 0..16; 9.7% are an 8."""

    rows = 1_797
    columns = 64
    classes = 2
    class_names = ("rest", "8")
    class_rates = (0.9032, 0.0968)
    schema: ClassVar[Schema] = {"*": (0, 0, 0, 1, 6, 12, 16)}

    def load(self, files: Mapping[str, Path]) -> Table:
        """Read scikit-learn's own copy; there are no files."""
        features, digits = load_digits(return_X_y=True)
        return self.table(features, digits == 8)
