"""mnist: handwritten digits, 28 x 28 pixels; the training part comes before the test part.

Or a sample that a package carries, which is sorted by digit.

LeCun, Bottou, Bengio, Haffner, "Gradient-Based Learning Applied to Document Recognition".
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ._idx import images_and_labels
from .base import Dataset, Table

SAMPLE = "mnist_5k.csv.gz"


class Mnist(Dataset):
    """70,000 gray images, ten digits. Or a sample of 5,000."""

    kind = "images"
    rows = 70_000
    columns = 784
    shape = (1, 28, 28)
    classes = 10
    class_names = ("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
    class_rates = (0.0986, 0.1125, 0.0999, 0.1020, 0.0975, 0.0902, 0.0982, 0.1042, 0.0975, 0.0994)
    versions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "sample": {"rows": 5_000, "class_rates": (0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1)},
        "stand-in": {"rows": 7_000},
    }

    def load(self, files: Mapping[str, Path]) -> Table:
        """Read the four idx files, or the sample: an image a line, its label last."""
        if SAMPLE in files:
            cells = np.loadtxt(files[SAMPLE], np.uint8, delimiter=",")
            return self.table(cells[:, :-1].reshape(-1, *self.shape), cells[:, -1])
        return self.table(*images_and_labels(files))
