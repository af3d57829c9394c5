"""robot: 24 ultrasound readings of a robot that follows a wall, and its next move.

Freire et al., "Short-Term Memory Mechanisms in Neural Network Learning of Robot Navigation Tasks" (UCI 194).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from .base import Dataset, Schema, Table


class Robot(Dataset):
    """5,456 moments in time order, 24 distances in meters (5.0 is the sensors' usual end), four moves."""

    rows = 5_456
    columns = 24
    classes = 4
    class_names = ("Move-Forward", "Sharp-Right-Turn", "Slight-Left-Turn", "Slight-Right-Turn")
    class_rates = (0.4041, 0.3843, 0.0601, 0.1514)
    schema: ClassVar[Schema] = {"*": (0.34, 0.668, 0.854, 1.239, 1.545, 1.935, 2.721, 5.0, 5.087)}

    def load(self, files: Mapping[str, Path]) -> Table:
        """Read sensor_readings_24.data: comma separated, no header, the class last."""
        cells = np.loadtxt(files["sensor_readings_24.data"], delimiter=",", dtype=str, ndmin=2)
        return self.table(cells[:, :-1].astype(np.float64), self.label_codes(cells[:, -1]))
