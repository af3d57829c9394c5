"""Loans: what is read of the file, and the properties of it that bound what any defense and any attack can do."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from cutlayer.core.errors import InputError
from cutlayer.data.acquire import Acquired
from cutlayer.data.datasets.base import Table
from cutlayer.data.normalised import _loaded, normalise, read
from cutlayer.data.standins.tabular import stand_in
from cutlayer.plan import plugins

SOURCES = Path(__file__).parents[2] / "data/sources.csv"
MIRROR = os.environ.get("CUTLAYER_MIRROR", "")
DATASET = plugins.create("dataset", "loans")
LINES = """Gender,MSAcode,Census,TIR,BIR,LTV,PurposeOfLoan,FederalGuarantee,Race,Affordability
1,0,3,2,1,5,8,4,1,1
0,1,1,1,2,3,1,4,0,0
"""


@pytest.fixture(scope="module")
def loans(tmp_path_factory) -> Table:
    """The real file."""
    folder = tmp_path_factory.mktemp("loans")
    normalise("loans", folder / "raw", MIRROR, False, SOURCES, folder / "n")
    return read(folder / "n", "loans")[0]


def without(table: Table, name: str) -> np.ndarray:
    return table.features[:, [other != name for other in table.feature_names]]


def best_accuracy(rows: np.ndarray, values: np.ndarray) -> float:
    """Of guessing the values (n,), knowing of all equal rows (n, d) which value most of them have."""
    _, place = np.unique(rows, axis=0, return_inverse=True)
    counts = np.zeros((place.max() + 1, values.max() + 1))
    np.add.at(counts, (place.ravel(), values), 1)
    return float(counts.max(axis=1).sum() / len(values))


def test_the_best_accuracy_is_found_by_counting():
    rows, values = np.array([[1, 1], [1, 1], [1, 1], [1, 2]]), np.array([0, 1, 1, 0])
    assert best_accuracy(rows, values) == 0.75
    assert best_accuracy(rows[:, :1], values) == 0.5


@pytest.mark.mirror
def test_few_rows_are_distinct(loans):
    assert len(loans.labels) == 36_982
    assert len(np.unique(np.column_stack([loans.features, loans.labels]), axis=0)) == 762


@pytest.mark.mirror
def test_the_label_follows_from_the_two_ratios_of_incomes(loans):
    tract, borrower = (loans.features[:, loans.feature_names.index(name)] for name in ("tir", "bir"))
    np.testing.assert_array_equal(loans.labels, np.where(borrower == 2, 0, np.where(tract == 1, 2, 1)))


@pytest.mark.mirror
def test_race_is_hardly_told_by_the_other_features(loans):
    race = loans.attributes["race"]
    assert round(max(race.mean(), 1 - race.mean()), 3) == 0.701
    assert round(best_accuracy(without(loans, "race"), race), 3) == 0.728
    assert best_accuracy(loans.features, race) == 1


def loaded(folder: Path, text: str) -> Table:
    file = folder / "mortgageloans.csv"
    file.write_text(text)
    (table,) = _loaded(DATASET, Acquired("loans", "full", "real", "", "raw", "", {file.name: file}, {}))
    return table


def test_columns_are_found_by_their_names(tmp_path):
    table = loaded(tmp_path, LINES)
    assert table.feature_names == DATASET.feature_names
    np.testing.assert_array_equal(table.features, [[0, 3, 2, 1, 5, 8, 4, 1, 1], [1, 1, 1, 2, 3, 1, 4, 0, 0]])
    assert (table.labels.tolist(), table.attributes["race"].tolist()) == ([1, 0], [1, 0])


@pytest.mark.parametrize(
    ("old", "new"),
    [("Race", "Rage"), ("1,1\n", "white,1\n"), ("1,1\n", ",1\n"), ("1,1\n", "0.5,1\n"), ("Affordability", "Label")],
)
def test_damage_is_named(tmp_path, old, new):
    with pytest.raises(InputError, match=r"dataset.loans: cannot be read \("):
        loaded(tmp_path, LINES.replace(old, new))


def test_a_fourth_class_and_a_third_race_are_refused(tmp_path):
    for new, wrong in (("1,3\n", "label has codes outside"), ("2,1\n", "race ranges from 0 to 2; expected 0 to 1")):
        with pytest.raises(InputError, match=wrong):
            DATASET.check_part(loaded(tmp_path, LINES.replace("1,1\n", new)))


def test_a_stand_in_has_the_rates_of_the_file():
    table = stand_in(DATASET)
    for name, column in zip(DATASET.feature_names, table.features.T, strict=True):
        values, counts = np.unique(column, return_counts=True)
        marginal = DATASET.marginal(name)
        assert values.tolist() == list(marginal)
        np.testing.assert_allclose(counts / DATASET.rows, list(marginal.values()), atol=1e-4)
    np.testing.assert_array_equal(table.attributes["race"], table.features[:, DATASET.feature_names.index("race")])
