"""cells: 30 measurements of cells from 569 patients, and whether they are malignant or benign.

Explain here where it comes from. The first word is the name of the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from cutlayer.data.datasets.base import Dataset, Schema, Table


class Cells(Dataset):
    """Wisconsin breast cancer data; its declarations are checked when the files are read."""

    rows = 569
    columns = 30
    classes = 2
    class_names = ("malignant", "benign")  # in the order of the labels
    class_rates = (0.3726, 0.6274)
    # Evenly spaced quantiles of every column ("*"), from the least to the greatest value.
    schema: ClassVar[Schema] = {"*": (0.0, 0.06, 0.18, 15.0, 4254.0)}

    def load(self, files: Mapping[str, Path]) -> Table:
        """Read the files of the folder cells/: features (n, 30), then labels (n,) from 0."""
        numbers = np.loadtxt(files["cells.csv"], delimiter=",")
        return self.table(numbers[:, :-1], numbers[:, -1])
