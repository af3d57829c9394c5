"""satellite: 3 x 3 pixels of a Landsat image in four bands, and the kind of soil in the middle.

Training and test file are joined: 6,435 rows, where the paper's table 1 says 6,430. A package carries the same rows in
another order.

Srinivasan, Statlog (Landsat Satellite) (UCI 146).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from .base import Dataset, Schema, Table

JOINED = "satimage.dat"
ROWS = "5a445de2a33e013462cbb542cd921b1b6a7e0686c5b2a873df30fc5bcedd05c4"  # sha256 of the rows, sorted


class Satellite(Dataset):
    """6,435 neighborhoods, 36 whole numbers 0..255, six soils: numbers 1 to 7, of which 6 never occurs."""

    rows = 6_435
    columns = 36
    classes = 6
    class_names = ("1", "2", "3", "4", "5", "7")
    class_rates = (0.2382, 0.1092, 0.2110, 0.0973, 0.1099, 0.2343)
    schema: ClassVar[Schema] = {"*": (27, 61, 69, 76, 81, 87, 95, 105, 157)}

    def load(self, files: Mapping[str, Path]) -> Table:
        """Read sat.trn and then sat.tst, or all rows in another order: no header, the class last."""
        names, separator = ((JOINED,), ",") if JOINED in files else (("sat.trn", "sat.tst"), None)
        cells = np.vstack([np.loadtxt(files[name], np.uint8, delimiter=separator, ndmin=2) for name in names])
        if (found := hashlib.sha256(cells[np.lexsort(cells.T)].tobytes()).hexdigest()) != ROWS:
            raise self.error(f"has rows with the sha256 {found}", f"expected {ROWS}, of sat.trn and sat.tst sorted")
        return self.table(cells[:, :-1].astype(np.float64), self.label_codes(cells[:, -1]))
