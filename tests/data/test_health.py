"""Health: small tables of the original's form, and what the published recipe makes of them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cutlayer.core.errors import InputError
from cutlayer.data.acquire import Acquired
from cutlayer.data.datasets import health
from cutlayer.data.datasets.base import Table
from cutlayer.data.datasets.health import AGES, FEATURES, INDEX, LABEL, SEXES, TABLE, YEAR, Health, binarized
from cutlayer.data.normalised import _loaded
from cutlayer.plan import plugins

MIRROR = os.environ.get("CUTLAYER_MIRROR", "")
OTHERS = ("MemberID_t", "trainset", "age_MISS", "sexMISS", "CharlsonIndexI_ave")  # columns that are not read
NAMES = dict(zip(FEATURES, Health.schema, strict=True))  # of the table -> of ours


def members(rows: int) -> pd.DataFrame:
    """Members of year Y3, all of them women of the first ages, without a claim."""
    columns = [*OTHERS, "YEAR_t", *AGES, *SEXES, INDEX, *FEATURES, LABEL]
    table = pd.DataFrame(0, index=range(rows), columns=columns).assign(YEAR_t=YEAR)
    return table.assign(**{AGES[0]: 1, "sexFEMALE": 1})


def loaded(folder: Path, table: pd.DataFrame) -> Table:
    path = folder / TABLE
    table.to_csv(path, index=False, compression={"method": "zip", "archive_name": "health.csv"})
    found = Acquired("health", "members", "real", "", "raw", "", {TABLE: path}, {})
    (result,) = _loaded(plugins.create("dataset", "health"), found)
    return result


@pytest.fixture
def few(monkeypatch):
    """Tables of a few columns that are not rare."""
    monkeypatch.setattr(health, "KEPT", 1)


def test_members_of_another_year_are_left_out_and_each_has_one_age_and_sex(few, tmp_path):
    table = members(4).assign(no_Claims=[1, 2, 3, 4], YEAR_t=["Y3", "Y1", "Y3", "Y3"])
    table.loc[2, [AGES[0], AGES[8], "sexFEMALE", "sexMALE"]] = [0, 1, 0, 1]
    table.loc[3, [INDEX, LABEL]] = [4, 1]
    found = loaded(tmp_path, table)
    assert found.attributes["age"].tolist() == [0, 8, 0]
    assert found.attributes["gender"].tolist() == [0, 1, 0]
    assert found.labels.tolist() == [0, 0, 1]
    column = dict(zip(found.feature_names, found.features.T, strict=True))
    np.testing.assert_array_equal(column.pop("claims"), [0, 0, 1])  # above the median of this year
    assert not any(values.any() for values in column.values())


@pytest.mark.parametrize("name", ["no_Claims", "pcg46", "sp1", "pg18", "ps9", "drugNull"])
def test_a_column_of_the_table_has_its_name(few, tmp_path, name):
    found = loaded(tmp_path, members(4).assign(**{name: [0, 0, 0, 9]}))
    (place,) = np.flatnonzero(found.features.any(axis=0))
    assert found.feature_names[place] == NAMES[name]


def test_a_column_that_is_rarely_above_its_median_is_cleared():
    values = np.zeros((100, 3))
    values[:5, 0] = values[:6, 1] = 1
    values[:, 2] = range(100)
    assert binarized(values).sum(axis=0).tolist() == [0, 6, 50]


def test_neither_age_nor_sex_nor_charlson_is_a_feature():
    names = " ".join([*NAMES, *NAMES.values()]).lower()
    for word in ("age_", "sex", "gender", "charlson", "trainset", "member"):
        assert word not in names


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({AGES[3]: 1}, "has a member with none or several of age_05, "),
        ({AGES[0]: 0}, "has a member with none or several of age_05, "),
        ({"sexFEMALE": 0}, "has a member with none or several of sexFEMALE, sexMALE; expected one of them"),
        ({LABEL: 1}, "has a Charlson>0 that is not whether CharlsonIndexI_max is above zero"),
        ({"no_PCPs": [0, 0, 0, 1]}, "has 2 columns that are not rare; expected 1"),
    ],
)
def test_a_table_that_is_not_the_prizes_is_refused(few, tmp_path, change, wrong):
    with pytest.raises(InputError, match=f"dataset.health: {wrong}"):
        loaded(tmp_path, members(4).assign(no_Claims=[1, 2, 3, 4]).assign(**change))


def test_a_damaged_zip_and_a_missing_column_are_named(few, tmp_path):
    with pytest.raises(InputError, match=r"dataset.health: cannot be read \(.*pcg7"):
        loaded(tmp_path, members(4).drop(columns="pcg7"))
    path = tmp_path / TABLE
    for content in (path.read_bytes()[:-40], b"<html>"):
        path.write_bytes(content)
        found = Acquired("health", "members", "real", "", "raw", "", {TABLE: path}, {})
        with pytest.raises(InputError, match=r"dataset.health: cannot be read \("):
            list(_loaded(plugins.create("dataset", "health"), found))


@pytest.fixture(scope="module")
def original() -> pd.DataFrame:
    return pd.read_csv(Path(MIRROR, "health", TABLE))


@pytest.mark.mirror
def test_random_guessing_of_an_age_succeeds_as_often_as_tcpo_prints(original):
    last = original[original["YEAR_t"] == YEAR]
    assert len(last) == plugins.create("dataset", "health").rows
    assert round(100 * last[list(AGES)].mean().max()) == 16
    assert last["sexFEMALE"].mean() == pytest.approx(0.5423, abs=0.012)  # of the rows that the paper tests


@pytest.mark.mirror
def test_the_numbers_of_categories_are_those_of_the_names(original):
    """The table has numbers only: whom a category is about, and how frequent it is, shows that the names are right."""
    column = {name: original[number] for number, name in NAMES.items()}
    women, young = original["sexFEMALE"], original["age_05"] + original["age_15"]

    def share(name: str, of: pd.Series) -> float:
        return (column[name] * of).sum() / column[name].sum()

    about_women = ("condition PRGNCY", "condition GYNEC1", "condition GYNECA", "specialty Obstetrics and Gynecology",
                   "condition PERINTL", "procedure SMCD")  # fmt: skip
    assert min(share(name, women) for name in about_women) > 0.9
    assert share("specialty Pediatrics", young) > 0.9
    assert share("condition PRGNCY", young) < 0.06
    old = original["age_65"] + original["age_75"] + original["age_85"]
    assert min(share(f"condition {name}", old) for name in ("STROKE", "HIPFX", "CHF")) > 0.85
    for kind in ("condition", "specialty", "procedure", "place"):
        total = sum(values for name, values in column.items() if name.startswith(f"{kind} "))
        np.testing.assert_array_equal(total, column["claims"])
