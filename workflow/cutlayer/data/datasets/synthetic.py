"""synthetic: two classes drawn by scikit-learn's make_classification, as the paper draws its own.

The paper's data are generated too, so these are the same kind of data and no stand-in; its seed is
not published, so the rows differ.

Guyon, "Design of experiments of the NIPS 2003 variable selection benchmark".
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from sklearn.datasets import make_classification

from cutlayer.core.seeds import seed_of

from .base import Dataset, Schema, Table


class Synthetic(Dataset):
    """50,000 rows, 10 features, two classes of equal size; all else is scikit-learn's default."""

    rows = 50_000
    columns = 10
    classes = 2
    class_names = ("0", "1")
    class_rates = (0.5, 0.5)
    tolerance = 0.005
    schema: ClassVar[Schema] = {"*": (-9.0, -1.0, 0.0, 1.0, 9.0)}

    def load(self, files: Mapping[str, Path]) -> Table:
        """Draw the table; there are no files, and the seed depends on the dataset's name alone."""
        seed = seed_of("dataset", self.name) % 2**32  # the range that scikit-learn accepts
        features, labels = make_classification(self.rows, self.columns, n_classes=self.classes, random_state=seed)
        return self.table(features, labels)
