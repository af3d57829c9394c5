"""digits: handwritten digits as 8 x 8 counts of ink, bundled with scikit-learn.

Alpaydin, Kaynak, Optical Recognition of Handwritten Digits, its test part (UCI 80).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from sklearn.datasets import load_digits

from .base import Dataset, Schema, Table


class Digits(Dataset):
    """1,797 digits, 64 features row by row, whole numbers 0..16, ten classes."""

    rows = 1_797
    columns = 64
    classes = 10
    class_names = ("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
    class_rates = (0.0991, 0.1013, 0.0985, 0.1018, 0.1007, 0.1013, 0.1007, 0.0996, 0.0968, 0.1002)
    schema: ClassVar[Schema] = {"*": (0, 0, 0, 1, 6, 12, 16)}

    def load(self, files: Mapping[str, Path]) -> Table:
        """Read scikit-learn's own copy; there are no files."""
        return self.table(*load_digits(return_X_y=True))
