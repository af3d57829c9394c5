"""In how many directions the gradients of a class are spread, on gradients whose spread is known."""

from __future__ import annotations

import numpy as np
import pytest

from cutlayer.core.seeds import generator
from cutlayer.stages.measures import arena
from cutlayer.stages.theory import Case

CASE = Case("arena", "bank", "none", "", 0)
LABELS = np.tile(np.arange(400) % 4 == 0, (2, 1)).astype(int)


def found(spread: np.ndarray, labels: np.ndarray = LABELS) -> dict[tuple[str, int], float]:
    """(metric, direction) -> value, of normal gradients with these standard deviations (d,) along the axes."""
    draw = generator("spectrum")
    rotation = np.linalg.qr(draw.standard_normal((len(spread), len(spread))))[0]
    gradients = 7 + draw.standard_normal((*labels.shape, len(spread))) * spread @ rotation
    rows = arena.measure({"gradients": gradients}, {"labels": labels}, CASE)
    return {(row["metric"], row.get("direction", 0)): row["value"] for row in rows}


@pytest.mark.parametrize("name", arena.CLASSES)
def test_rows_in_two_directions_are_told_from_rows_that_are_spread_alike(name: str) -> None:
    own = found(np.array([3.0, 1.0, 0, 0, 0, 0, 0, 0]))  # variances of 9 and 1
    assert own[f"dimension_of_{name}", 0] == pytest.approx(10**2 / (9**2 + 1), rel=0.1)
    assert own[f"share_of_{name}", 1] == pytest.approx(0.9, abs=0.05)
    assert own[f"share_of_{name}", 2] == pytest.approx(1)
    assert own[f"dimension_of_{name}_alike", 0] == pytest.approx(8, rel=0.1)
    assert 0.5 < own[f"share_of_{name}_alike", 4] < 0.75


@pytest.mark.parametrize("name", arena.CLASSES)
def test_rows_that_are_spread_alike_look_like_those_beside_them(name: str) -> None:
    own = found(np.ones(8))
    assert own[f"dimension_of_{name}", 0] == pytest.approx(own[f"dimension_of_{name}_alike", 0], rel=0.05)


def test_few_rows_are_held_against_as_few() -> None:
    labels = np.zeros((20, 100), dtype=int)
    labels[:, :4] = 1
    own = found(np.ones(32), labels)
    assert own["dimension_of_positives", 0] < 4
    assert own["dimension_of_positives", 0] == pytest.approx(own["dimension_of_positives_alike", 0], rel=0.1)
    assert own["share_of_positives", 3] == own["share_of_positives", 32] == pytest.approx(1)


def test_rows_that_do_not_differ_have_no_spread() -> None:
    own = found(np.zeros(4))
    assert own["dimension_of_negatives", 0] == 0


def test_without_batches_of_a_class_there_is_a_reason() -> None:
    rows = list(arena.measure({"gradients": np.ones((1, 9, 2))}, {"labels": np.zeros((1, 9))}, CASE))
    assert rows[-1] == {"metric": "", "value": None, "skipped": "for batches with 3 positives"}
