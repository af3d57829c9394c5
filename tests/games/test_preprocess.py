"""Preprocessing: target means and min-max scaling, from all rows or from the training rows alone."""

from __future__ import annotations

import numpy as np
import pytest

from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.data.datasets.base import Table
from cutlayer.games.vertical.preprocess import min_max, prepare, target_mean


def make_table(rows: int = 200, classes: int = 2) -> Table:
    draw = generator("test_preprocess", rows, classes)
    codes = draw.integers(0, 4, rows)
    features = np.stack([draw.normal(5, 3, rows), codes, np.full(rows, 7.0)], axis=1)
    labels = draw.integers(0, classes, rows)
    return Table(features, labels, {}, ("amount", "job", "same"), ("job",), classes)


@pytest.mark.parametrize("fit_on", ["all", "train"])
@pytest.mark.parametrize("classes", [2, 5])
def test_everything_lies_in_the_unit_cube(fit_on, classes):
    x, encoded = prepare(make_table(classes=classes), np.arange(50), fit_on)
    assert x.shape == encoded.shape == (200, 3)
    assert x.min() == 0
    assert x.max() == 1


@pytest.mark.parametrize("classes", [2, 5])
def test_each_category_becomes_the_mean_label_of_its_rows(classes):
    table = make_table(classes=classes)
    _, encoded = prepare(table, np.arange(50), "all")
    for code in range(4):
        rows = table.features[:, 1] == code
        np.testing.assert_allclose(encoded[rows, 1], table.labels[rows].mean())
    np.testing.assert_array_equal(encoded[:, 0], table.features[:, 0])


def test_all_rows_span_the_unit_interval_when_fitted_on_all():
    x, _ = prepare(make_table(), np.arange(50), "all")
    np.testing.assert_array_equal(x[:, :2].min(axis=0), 0)
    np.testing.assert_array_equal(x[:, :2].max(axis=0), 1)


def test_statistics_of_the_training_rows_ignore_every_other_row():
    table = make_table()
    train = np.arange(50)
    x, encoded = prepare(table, train, "train")
    changed = Table(table.features.copy(), 1 - table.labels, {}, table.feature_names, table.categorical, 2)
    changed.labels[train] = table.labels[train]
    changed.features[50:, 0] *= 100
    other_x, other = prepare(changed, train, "train")
    np.testing.assert_array_equal(x[train], other_x[train])
    np.testing.assert_array_equal(encoded[:, 1], other[:, 1])
    assert other_x.max() == 1


def test_a_mask_and_row_numbers_mean_the_same():
    table, mask = make_table(), np.zeros(200, dtype=bool)
    mask[10:90] = True
    for found, expected in zip(prepare(table, mask, "train"), prepare(table, np.arange(10, 90), "train"), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_an_unseen_category_gets_the_mean_of_the_fitted_rows():
    codes, labels = np.array([0, 0, 1, 2]), np.array([1, 0, 1, 0])
    encoded = target_mean(codes, labels, np.array([0, 1, 2]))
    np.testing.assert_allclose(encoded, [0.5, 0.5, 1.0, 2 / 3])


def test_a_constant_column_becomes_zero():
    features = np.array([[3.0, 1.0], [3.0, 2.0], [9.0, 3.0]])
    np.testing.assert_array_equal(min_max(features, np.arange(2))[:, 0], 0)
    np.testing.assert_array_equal(prepare(make_table(), np.arange(50), "all")[0][:, 2], 0)


def test_the_table_is_not_changed():
    table = make_table()
    before = table.features.copy()
    prepare(table, np.arange(50), "all")
    np.testing.assert_array_equal(table.features, before)


def test_wrong_use_is_named():
    with pytest.raises(InputError, match=r"preprocess.fit_on: there is no 'trian'; did you mean 'train'"):
        prepare(make_table(), np.arange(50), "trian")
    with pytest.raises(InputError, match=r"preprocess.train_rows: is empty"):
        prepare(make_table(), np.arange(0), "train")
