"""adult_codes: the training part of adult, every text a number: its place among the column's texts, sorted.

Education is there as a number and not again as a text. Models see codes as numbers, in an order that means nothing.
Sex, relationship, marital status and race are features and sensitive attributes, as in adult.

Arroyo Arevalo et al., "Task-Agnostic Privacy-Preserving Representation Learning for Federated Learning Against
Attribute Inference Attacks"; Becker, Kohavi, Adult (UCI 2).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from .adult import Adult, people
from .base import Schema, Table


class AdultCodes(Adult):
    """32,561 people, 13 features; 24.1% earn more."""

    rows = 32_561
    columns = 13
    class_rates = (0.7592, 0.2408)
    schema: ClassVar[Schema] = {
        "age": (17, 23, 28, 32, 37, 42, 48, 56, 90),
        "workclass": {
            0: 0.0564, 1: 0.0295, 2: 0.0643, 3: 0.0002, 4: 0.697, 5: 0.0343, 6: 0.078, 7: 0.0399, 8: 0.0004,
        },
        "fnlwgt": (12285, 80058, 117827, 152102, 178356, 201105, 237051, 308118, 1484705),
        "education-num": {
            1: 0.0016, 2: 0.0052, 3: 0.0102, 4: 0.0198, 5: 0.0158, 6: 0.0287, 7: 0.0361, 8: 0.0133,
            9: 0.3225, 10: 0.2239, 11: 0.0424, 12: 0.0328, 13: 0.1645, 14: 0.0529, 15: 0.0177, 16: 0.0127,
        },
        "marital-status": {0: 0.1365, 1: 0.0007, 2: 0.4599, 3: 0.0128, 4: 0.3281, 5: 0.0315, 6: 0.0305},
        "occupation": {
            0: 0.0566, 1: 0.1158, 2: 0.0003, 3: 0.1259, 4: 0.1249, 5: 0.0305, 6: 0.0421, 7: 0.0615,
            8: 0.1012, 9: 0.0046, 10: 0.1271, 11: 0.0199, 12: 0.1121, 13: 0.0285, 14: 0.049,
        },
        "relationship": {0: 0.4052, 1: 0.2551, 2: 0.0301, 3: 0.1556, 4: 0.1058, 5: 0.0482},
        "race": {0: 0.0096, 1: 0.0319, 2: 0.0959, 3: 0.0083, 4: 0.8543},
        "sex": {0: 0.3308, 1: 0.6692},
        # Of the many amounts a few are kept, each for those above the one before it.
        "capital-gain": {0: 0.9167, 3674: 0.0229, 7688: 0.0342, 15024: 0.0182, 99999: 0.008},
        "capital-loss": {0: 0.9533, 1848: 0.0179, 2559: 0.0279, 4356: 0.0009},
        "hours-per-week": (1, 28, 40, 40, 40, 40, 45, 50, 99),
        "native-country": {
            0: 0.0179, 1: 0.0006, 2: 0.0037, 3: 0.0023, 4: 0.0018, 5: 0.0029, 6: 0.0021, 7: 0.0009, 8: 0.0033,
            9: 0.0028, 10: 0.0009, 11: 0.0042, 12: 0.0009, 13: 0.002, 14: 0.0014, 15: 3e-05, 16: 0.0004, 17: 0.0006,
            18: 0.0004, 19: 0.0031, 20: 0.0013, 21: 0.0007, 22: 0.0022, 23: 0.0025, 24: 0.0019, 25: 0.0006, 26: 0.0197,
            27: 0.001, 28: 0.0004, 29: 0.001, 30: 0.0061, 31: 0.0018, 32: 0.0011, 33: 0.0035, 34: 0.0004, 35: 0.0025,
            36: 0.0016, 37: 0.0006, 38: 0.0006, 39: 0.8959, 40: 0.0021, 41: 0.0005,
        },
    }  # fmt: skip

    def load(self, files: Mapping[str, Path]) -> Table:
        """Read adult.data; a column whose texts are fewer or more than declared is an error."""
        read = people(files["adult.data"]).drop(columns="education")
        labels = self.label_codes(read.pop("income").to_numpy(dtype=str))
        for name in map(str, read.select_dtypes(exclude="number")):
            texts, read[name] = np.unique(read[name].to_numpy(dtype=str), return_inverse=True)
            if len(texts) != (levels := len(self.marginal(name))):
                raise self.error(f"{name} has {len(texts)} levels", f"expected {levels}")
        return self.table(read.to_numpy(), labels, {name: read[name].to_numpy() for name in self.attributes})
