"""breast_cancer: 30 measures of cell nuclei, and whether the tumor is benign; bundled with scikit-learn.

Wolberg, Mangasarian, Street, Street, Breast Cancer Wisconsin (Diagnostic) (UCI 17).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from sklearn.datasets import load_breast_cancer

from .base import Dataset, Schema, Table


class BreastCancer(Dataset):
    """569 tumors, 30 features, two classes; 62.7% benign."""

    rows = 569
    columns = 30
    classes = 2
    class_names = ("malignant", "benign")
    class_rates = (0.3726, 0.6274)
    schema: ClassVar[Schema] = {
        "mean radius": (6.981, 11.7, 13.37, 15.78, 28.11),
        "mean texture": (9.71, 16.17, 18.84, 21.8, 39.28),
        "mean perimeter": (43.79, 75.17, 86.24, 104.1, 188.5),
        "mean area": (143.5, 420.3, 551.1, 782.7, 2501.0),
        "mean smoothness": (0.05263, 0.08637, 0.09587, 0.1053, 0.1634),
        "mean compactness": (0.01938, 0.06492, 0.09263, 0.1304, 0.3454),
        "mean concavity": (0.0, 0.02956, 0.06154, 0.1307, 0.4268),
        "mean concave points": (0.0, 0.02031, 0.0335, 0.074, 0.2012),
        "mean symmetry": (0.106, 0.1619, 0.1792, 0.1957, 0.304),
        "mean fractal dimension": (0.04996, 0.0577, 0.06154, 0.06612, 0.09744),
        "radius error": (0.1115, 0.2324, 0.3242, 0.4789, 2.873),
        "texture error": (0.3602, 0.8339, 1.108, 1.474, 4.885),
        "perimeter error": (0.757, 1.606, 2.287, 3.357, 21.98),
        "area error": (6.802, 17.85, 24.53, 45.19, 542.2),
        "smoothness error": (0.001713, 0.005169, 0.00638, 0.008146, 0.03113),
        "compactness error": (0.002252, 0.01308, 0.02045, 0.03245, 0.1354),
        "concavity error": (0.0, 0.01509, 0.02589, 0.04205, 0.396),
        "concave points error": (0.0, 0.007638, 0.01093, 0.01471, 0.05279),
        "symmetry error": (0.007882, 0.01516, 0.01873, 0.02348, 0.07895),
        "fractal dimension error": (0.0008948, 0.002248, 0.003187, 0.004558, 0.02984),
        "worst radius": (7.93, 13.01, 14.97, 18.79, 36.04),
        "worst texture": (12.02, 21.08, 25.41, 29.72, 49.54),
        "worst perimeter": (50.41, 84.11, 97.66, 125.4, 251.2),
        "worst area": (185.2, 515.3, 686.5, 1084.0, 4254.0),
        "worst smoothness": (0.07117, 0.1166, 0.1313, 0.146, 0.2226),
        "worst compactness": (0.02729, 0.1472, 0.2119, 0.3391, 1.058),
        "worst concavity": (0.0, 0.1145, 0.2267, 0.3829, 1.252),
        "worst concave points": (0.0, 0.06493, 0.09993, 0.1614, 0.291),
        "worst symmetry": (0.1565, 0.2504, 0.2822, 0.3179, 0.6638),
        "worst fractal dimension": (0.05504, 0.07146, 0.08004, 0.09208, 0.2075),
    }

    def load(self, files: Mapping[str, Path]) -> Table:
        """Read scikit-learn's own copy; there are no files."""
        return self.table(*load_breast_cancer(return_X_y=True))
