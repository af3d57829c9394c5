"""wine: 13 chemical measures of wines from three growers; bundled with scikit-learn.

Aeberhard, Forina, Wine (UCI 109).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from sklearn.datasets import load_wine

from .base import Dataset, Schema, Table


class Wine(Dataset):
    """178 wines, 13 features, three growers."""

    rows = 178
    columns = 13
    classes = 3
    class_names = ("class_0", "class_1", "class_2")
    class_rates = (0.3315, 0.3989, 0.2697)
    schema: ClassVar[Schema] = {
        "alcohol": (11.03, 12.36, 13.05, 13.68, 14.83),
        "malic_acid": (0.74, 1.603, 1.865, 3.083, 5.8),
        "ash": (1.36, 2.21, 2.36, 2.558, 3.23),
        "alcalinity_of_ash": (10.6, 17.2, 19.5, 21.5, 30.0),
        "magnesium": (70, 88, 98, 107, 162),
        "total_phenols": (0.98, 1.742, 2.355, 2.8, 3.88),
        "flavanoids": (0.34, 1.205, 2.135, 2.875, 5.08),
        "nonflavanoid_phenols": (0.13, 0.27, 0.34, 0.4375, 0.66),
        "proanthocyanins": (0.41, 1.25, 1.555, 1.95, 3.58),
        "color_intensity": (1.28, 3.22, 4.69, 6.2, 13.0),
        "hue": (0.48, 0.7825, 0.965, 1.12, 1.71),
        "od280/od315_of_diluted_wines": (1.27, 1.938, 2.78, 3.17, 4.0),
        "proline": (278.0, 500.5, 673.5, 985.0, 1680.0),
    }

    def load(self, files: Mapping[str, Path]) -> Table:
        """Read scikit-learn's own copy; there are no files."""
        return self.table(*load_wine(return_X_y=True))
