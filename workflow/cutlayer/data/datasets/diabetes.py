"""diabetes: ten measures of patients, and whether the disease grew worse than the median's; bundled with scikit-learn.

Sex is a feature and a sensitive attribute, age a feature of which "above the median" is one.

Efron, Hastie, Johnstone, Tibshirani, "Least Angle Regression".
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np
from sklearn.datasets import load_diabetes

from .base import Dataset, Schema, Table


class Diabetes(Dataset):
    """442 patients, 10 features; half of them progressed more than the median, 46.8% are of the second sex."""

    rows = 442
    columns = 10
    classes = 2
    class_names = ("below", "above")
    class_rates = (0.5, 0.5)
    schema: ClassVar[Schema] = {
        "age": (19, 38, 50, 59, 79),
        "sex": 2,
        "bmi": (18.0, 23.2, 25.7, 29.275, 42.2),
        "bp": (62.0, 84.0, 93.0, 105.0, 133.0),
        "s1": (97, 164, 186, 210, 301),
        "s2": (41.6, 96.05, 113.0, 134.5, 242.4),
        "s3": (22.0, 40.25, 48.0, 57.75, 99.0),
        "s4": (2.0, 3.0, 4.0, 5.0, 9.09),
        "s5": (3.258, 4.277, 4.62, 4.997, 6.107),
        "s6": (58, 83, 91, 98, 124),
    }
    attributes: ClassVar[Mapping[str, int]] = {"sex": 2, "age": 2}
    values: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "sex": ("first sex", "second sex"),  # scikit-learn says 1 and 2
        "age": ("below the median", "above the median"),
    }

    def load(self, files: Mapping[str, Path]) -> Table:
        """Read scikit-learn's own copy in its original units; there are no files."""
        features, progression = load_diabetes(return_X_y=True, scaled=False)
        age, sex = features[:, 0], features[:, 1] - 1
        features[:, 1] = sex
        return self.table(features, progression > np.median(progression), {"sex": sex, "age": age > np.median(age)})
