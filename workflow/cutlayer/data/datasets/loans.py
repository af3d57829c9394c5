"""loans: mortgages of owner-occupied houses; the label compares the family's and the area's incomes with others.

Made by others of the FHFA's Public Use Database; the codes are those of its National File A, whose dictionary says what
they mean. "census" is the share of minorities in the census tract, "tir" and "bir" are ranges of the tract's and the
borrower's income, by what is usual around. All are numbers to a model, as in the paper.

The label follows from tir and bir, and few rows are distinct: tests/data/test_loans.py measures it. Race (white or
not) is a feature and a sensitive attribute: a setup that protects it decides whether models see its column.

Federal Housing Finance Agency, Enterprise Public Use Database, Single-Family Properties, National File A.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from .base import Dataset, Schema, Table


class Loans(Dataset):
    """36,982 loans, 9 features; three classes, 29.9% of the borrowers are not white."""

    rows = 36_982
    columns = 9
    classes = 3
    # What tir and bir say by the dictionary; the paper of the file (tappfl) describes the last two the other way round.
    class_names = (
        "low income, low-income area",
        "very low income, other area",
        "very low income, low-income area",
    )
    class_rates = (0.3991, 0.4244, 0.1765)
    schema: ClassVar[Schema] = {
        "msacode": {0: 0.0777, 1: 0.9223},
        "census": {1: 0.1845, 2: 0.3231, 3: 0.4923, 9: 0.0001},
        "tir": {1: 0.5756, 2: 0.3185, 3: 0.1055, 9: 0.0004},
        "bir": {1: 0.6009, 2: 0.3991},
        "ltv": {1: 0.3093, 2: 0.3762, 3: 0.094, 4: 0.105, 5: 0.1155},
        "purposeofloan": {1: 0.406, 8: 0.594},
        "federalguarantee": {2: 0.0008, 4: 0.9992},
        "race": {0: 0.7008, 1: 0.2992},
        "gender": {0: 0.481, 1: 0.519},
    }
    attributes: ClassVar[Mapping[str, int]] = {"race": 2}
    values: ClassVar[Mapping[str, tuple[str, ...]]] = {"race": ("white", "not white")}

    def load(self, files: Mapping[str, Path]) -> Table:
        """Read the file: a header, then whole numbers; columns are found by their names."""
        (path,) = files.values()
        read = pd.read_csv(path, dtype=np.int64).rename(columns=str.lower)
        labels = read["affordability"].to_numpy()
        return self.table(read[list(self.feature_names)].to_numpy(), labels, {"race": read["race"].to_numpy()})
