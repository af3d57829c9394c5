"""Made-up people for attacks on attributes."""

from __future__ import annotations

import numpy as np


def people(
    kind: str, values: int, rows: int, rng: np.random.Generator, carried: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Inputs, and an attribute that they show, or do not: most rows have its first value."""
    rates = np.array([0.65, 0.35] if values == 2 else [0.5, 0.3, 0.2])
    attribute = rng.choice(values, rows, p=rates)
    shown = attribute if carried else rng.choice(values, rows, p=rates)
    if kind == "table":
        x = rng.standard_normal((rows, 6))
        x[:, :values] += 4 * np.eye(values)[shown]
        return x, attribute
    x = rng.random((rows, 1, 8, 8))
    x[shown == 1, :, :, :3] += 2  # a bright bar
    return x, attribute
