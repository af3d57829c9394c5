"""bank: phone calls of a Portuguese bank, and whether the client subscribed to a deposit.

Column 11, `duration`, is dropped as in the paper: it is known only after the call and leaks y.

Moro, Cortez, Rita, "A Data-Driven Approach to Predict the Success of Bank Telemarketing" (UCI 222).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from .base import Dataset, Schema, Table


class Bank(Dataset):
    """41,188 calls, 19 features, ten of them categorical ("unknown" is a level); 11.3% subscribed."""

    rows = 41_188
    columns = 19
    classes = 2
    class_names = ("no", "yes")
    class_rates = (0.8873, 0.1127)
    schema: ClassVar[Schema] = {
        "age": (17, 29, 32, 35, 38, 42, 47, 53, 98),
        "job": 12,
        "marital": 4,
        "education": 8,
        "default": 3,
        "housing": 3,
        "loan": 3,
        "contact": 2,
        "month": 10,
        "day_of_week": 5,
        "campaign": {1: 0.43, 2: 0.26, 3: 0.13, 4: 0.06, 6: 0.06, 9: 0.03, 15: 0.02, 56: 0.01},
        "pdays": {0: 0.001, 3: 0.015, 6: 0.015, 12: 0.005, 27: 0.001, 999: 0.963},
        "previous": {0: 0.863, 1: 0.111, 2: 0.018, 3: 0.006, 7: 0.002},
        "poutcome": 3,
        "emp.var.rate": {-3.4: 0.03, -2.9: 0.05, -1.8: 0.22, -1.1: 0.03, -0.1: 0.09, 1.1: 0.19, 1.4: 0.39},
        "cons.price.idx": (92.201, 92.893, 93.075, 93.444, 93.749, 93.918, 93.994, 94.199, 94.767),
        "cons.conf.idx": (-50.8, -46.2, -42.7, -42.7, -41.8, -36.4, -36.4, -36.1, -26.9),
        "euribor3m": (0.634, 1.25, 1.344, 4.12, 4.857, 4.865, 4.961, 4.963, 5.045),
        "nr.employed": {4963.6: 0.08, 5076.2: 0.04, 5099.1: 0.21, 5191.0: 0.19, 5195.8: 0.09, 5228.1: 0.39},
    }

    def load(self, files: Mapping[str, Path]) -> Table:
        """Read bank-additional-full.csv: ';' separated, quoted, with a header."""
        read = pd.read_csv(files["bank-additional-full.csv"], sep=";", keep_default_na=False)
        labels = self.label_codes(read.pop("y").to_numpy(dtype=str))
        read = read.drop(columns="duration")
        if tuple(read.columns) != self.feature_names:
            raise self.error(f"has the columns {', '.join(read.columns)}", f"expected {', '.join(self.feature_names)}")
        for name in self.categorical:
            read[name] = self.codes(name, read[name].to_numpy(dtype=str))
        return self.table(read.to_numpy(dtype=np.float64), labels)
