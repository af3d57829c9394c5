"""adult: the 1994 census, and whether a person earns more than 50,000 dollars a year.

Sex, relationship, marital status and race are features and sensitive attributes: a setup that protects one of them
decides whether models see its column. "?" (unknown) is a level.

Becker, Kohavi, Adult (UCI 2).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from .base import Dataset, Schema, Table


class Adult(Dataset):
    """48,842 people, 14 features, eight of them categorical; 23.9% earn more."""

    rows = 48_842
    columns = 14
    classes = 2
    class_names = ("<=50K", ">50K")
    class_rates = (0.7607, 0.2393)
    schema: ClassVar[Schema] = {
        "age": (17, 23, 28, 32, 37, 42, 48, 56, 90),
        "workclass": 9,
        "fnlwgt": (12285, 79714, 117550, 151626, 178144, 200967, 237642, 308081, 1490400),
        "education": 16,
        "education-num": {
            1: 0.002, 2: 0.005, 3: 0.01, 4: 0.02, 5: 0.015, 6: 0.028, 7: 0.037, 8: 0.013,
            9: 0.323, 10: 0.223, 11: 0.042, 12: 0.033, 13: 0.164, 14: 0.054, 15: 0.017, 16: 0.012,
        },
        "marital-status": 7,
        "occupation": 15,
        "relationship": 6,
        "race": 5,
        "sex": 2,
        "capital-gain": {0: 0.917, 3674: 0.033, 7688: 0.03, 15024: 0.015, 99999: 0.005},
        "capital-loss": {0: 0.953, 1848: 0.035, 2559: 0.011, 4356: 0.001},
        "hours-per-week": (1, 28, 40, 40, 40, 40, 45, 50, 99),
        "native-country": 42,
    }  # fmt: skip
    attributes: ClassVar[Mapping[str, int]] = {"sex": 2, "relationship": 6, "marital-status": 7, "race": 5}
    values: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "sex": ("female", "male"),
        "relationship": ("husband", "not in family", "other relative", "own child", "unmarried", "wife"),
        "marital-status": (
            "divorced", "married, armed forces", "married", "spouse absent", "never married", "separated", "widowed",
        ),
        "race": ("American Indian", "Asian", "Black", "other", "White"),
    }  # fmt: skip

    def load(self, files: Mapping[str, Path]) -> Table:
        """Read adult.data, then adult.test."""
        read = people(files["adult.data"], files["adult.test"])
        labels = self.label_codes(read.pop("income").to_numpy(dtype=str))
        for name in self.categorical:
            read[name] = self.codes(name, read[name].to_numpy(dtype=str))
        return self.table(
            read.to_numpy(dtype=np.float64), labels, {name: read[name].to_numpy() for name in self.attributes}
        )


def people(*files: Path) -> pd.DataFrame:
    """The rows of adult.data, adult.test: no header; the second starts with a comment, its labels end in a dot."""
    names = [*Adult.schema, "income"]
    parts = [
        pd.read_csv(path, names=names, skipinitialspace=True, comment="|", keep_default_na=False) for path in files
    ]
    read = pd.concat(parts, ignore_index=True)
    return read.assign(income=read.income.str.removesuffix("."))
