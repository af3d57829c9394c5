"""Satellite: two files and one that joins them in another order are the same rows."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from cutlayer.core.errors import InputError
from cutlayer.data.datasets import satellite
from cutlayer.plan import plugins

ROWS = np.array([[27 + i] * 36 + [soil] for i, soil in enumerate((3, 1, 7))], np.uint8)


def written(path: Path, rows: np.ndarray, separator: str) -> Path:
    path.write_text("".join(f"{separator.join(map(str, row))}\n" for row in rows))
    return path


@pytest.fixture
def dataset(monkeypatch):
    in_order = ROWS[np.lexsort(ROWS.T)]
    monkeypatch.setattr(satellite, "ROWS", hashlib.sha256(in_order.tobytes()).hexdigest())
    return plugins.create("dataset", "satellite")


def test_rows_of_the_two_files_are_in_their_order(dataset, tmp_path):
    files = {"sat.tst": written(tmp_path / "b", ROWS[2:], " "), "sat.trn": written(tmp_path / "a", ROWS[:2], " ")}
    table = dataset.load(files)
    np.testing.assert_array_equal(table.features, ROWS[:, :-1])
    assert [dataset.class_names[label] for label in table.labels] == ["3", "1", "7"]


def test_the_joined_file_has_the_same_rows_in_its_own_order_and_no_others(dataset, tmp_path):
    other = ROWS[[2, 0, 1]]
    table = dataset.load({satellite.JOINED: written(tmp_path / "a", other, ", ")})
    np.testing.assert_array_equal(table.features, other[:, :-1])
    for wrong in (ROWS[:2], np.vstack([ROWS, ROWS[:1]]), ROWS[::-1] + np.uint8(1)):
        with pytest.raises(InputError, match=r"dataset.satellite: has rows with the sha256 .* of sat.trn and sat"):
            dataset.load({satellite.JOINED: written(tmp_path / "a", wrong, ", ")})
