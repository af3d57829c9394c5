"""fashion_mnist: articles of clothing, 28 x 28 pixels; the training part comes before the test part.

Xiao, Rasul, Vollgraf, "Fashion-MNIST: a Novel Image Dataset for Benchmarking Machine Learning Algorithms".
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from ._idx import images_and_labels
from .base import Dataset, Table


class FashionMnist(Dataset):
    """70,000 gray images, ten articles of equal number."""

    kind = "images"
    rows = 70_000
    columns = 784
    shape = (1, 28, 28)
    classes = 10
    class_names = (
        "T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot",
    )  # fmt: skip
    class_rates = (0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1)
    versions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"stand-in": {"rows": 7_000}}

    def load(self, files: Mapping[str, Path]) -> Table:
        """Read the four idx files."""
        return self.table(*images_and_labels(files))
