"""Health: small files of the original's form, and what the published recipe makes of them."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from cutlayer.core.errors import InputError
from cutlayer.data.acquire import Acquired
from cutlayer.data.datasets._claims import summary
from cutlayer.data.datasets.base import Table
from cutlayer.data.datasets.health import AGES, binarised
from cutlayer.data.normalised import _loaded
from cutlayer.plan import plugins

CLAIM = {
    "MemberID": "1", "ProviderID": "10", "Vendor": "20", "PCP": "30", "Year": "Y3", "Specialty": "Internal",
    "PlaceSvc": "Office", "PayDelay": "28", "LengthOfStay": "", "DSFS": "0- 1 month", "PrimaryConditionGroup": "AMI",
    "CharlsonIndex": "0", "ProcedureGroup": "EM", "SupLOS": "0",
}  # fmt: skip
MONTH = {"MemberID": "1", "Year": "Y3", "DSFS": "0- 1 month"}


def text(rows: list[dict[str, str]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def release(folder: Path, claims: list[dict[str, str]], **others: list[dict[str, str]]) -> dict[str, Path]:
    """The zip with these claims, each like CLAIM but for what it says, and other tables, by default of member 1."""
    tables = {
        "Claims": [CLAIM | claim for claim in claims],
        "Members": [{"MemberID": "1", "AgeAtFirstClaim": "40-49", "Sex": "M"}],
        "Target": [{"MemberID": "1", "ClaimsTruncated": "0", "DaysInHospital": ""}],
        "DrugCount": [MONTH | {"DrugCount": "2"}],
        "LabCount": [MONTH | {"LabCount": "10+"}],
    } | others
    path = folder / "HHP_release3.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, rows in tables.items():
            archive.writestr(f"{name}.csv", text(rows))
    return {path.name: path}


def members(*rows: tuple[str, str, str]) -> dict[str, list[dict[str, str]]]:
    """Members and Target of some numbers, ages and sexes."""
    return {
        "Members": [{"MemberID": number, "AgeAtFirstClaim": age, "Sex": sex} for number, age, sex in rows],
        "Target": [{"MemberID": number, "ClaimsTruncated": "0", "DaysInHospital": ""} for number, _, _ in rows],
    }


def loaded(files: dict[str, Path]) -> Table:
    (table,) = _loaded(
        plugins.create("dataset", "health"), Acquired("health", "full", "real", "", "raw", "", files, {})
    )
    return table


def summed(files: dict[str, Path]) -> dict[str, float]:
    """The numbers of member 1."""
    with zipfile.ZipFile(files["HHP_release3.zip"]) as archive:
        return summary(archive, "Y3").loc[1].to_dict()


def test_claims_are_summed_up_per_member(tmp_path):
    claims = [
        {"PayDelay": "162+", "LengthOfStay": "2- 4 weeks", "Specialty": "Surgery", "CharlsonIndex": "1-2", "PCP": ""},
        {"ProviderID": "11", "DSFS": "11-12 months", "LengthOfStay": "2 days", "PrimaryConditionGroup": ""},
        {"SupLOS": "1", "PayDelay": "29", "DSFS": "2- 3 months"},
        {"PlaceSvc": "Home", "DSFS": ""},
        {"Year": "Y2", "ProviderID": "12", "PayDelay": "1", "CharlsonIndex": "5+"},
        {"MemberID": "2", "ProviderID": "13"},
    ]
    drugs = [MONTH | {"DrugCount": "7+"}, MONTH | {"DrugCount": "2"}, MONTH | {"DrugCount": "1", "Year": "Y1"}]
    found = summed(release(tmp_path, claims, DrugCount=drugs))
    expected = {
        "claims": 4, "providers": 2, "vendors": 1, "PCPs": 1, "places": 2, "specialties": 2, "conditions": 1,
        "procedures": 1,
        "delay max": 162, "delay min": 28, "delay mean": 61, "delay deviation": np.std([162, 28, 29, 28], ddof=1),
        "stay max": 21, "stay min": 2, "stay mean": 11, "stay deviation": np.std([21, 2], ddof=1),
        "stays unknown": 1, "stays suppressed": 1, "stays known": 2,
        "month max": 12, "month min": 1, "month mean": 5, "month deviation": np.std([1, 12, 3], ddof=1),
        "month range": 11,
        "condition AMI": 3, "condition ?": 1, "specialty Internal": 3, "specialty Surgery": 1, "procedure EM": 4,
        "place Office": 3, "place Home": 1,
        "drugs max": 7, "drugs min": 2, "drugs mean": 4.5, "drugs months": 2,
        "labs max": 10, "labs min": 10, "labs mean": 10, "labs months": 1,
        "charlson": True,
    }  # fmt: skip
    assert found == pytest.approx(expected)


def test_what_no_claim_says_is_zero_but_a_deviation_and_a_range_are_minus_one(tmp_path):
    found = summed(release(tmp_path, [{"DSFS": ""}, {"DSFS": ""}]))
    for kind in ("stay", "month"):
        assert [found[f"{kind} {part}"] for part in ("max", "min", "mean", "deviation")] == [0, 0, 0, -1]
    assert found["month range"] == -1
    assert summed(release(tmp_path, [{}]))["stay deviation"] == 0  # of a single claim


def test_members_come_as_target_lists_them_without_those_whose_age_or_sex_is_missing(tmp_path):
    people = members(("7", "80+", "F"), ("3", "", "M"), ("5", "0-9", "M"), ("4", "10-19", ""), ("1", "70-79", "F"))
    claims = [{"MemberID": number, "CharlsonIndex": index} for number, index in (("5", "3-4"), ("7", "0"), ("3", "5+"))]
    table = loaded(release(tmp_path, claims, **people))
    assert table.attributes["age"].tolist() == [8, 0, 7]
    assert table.attributes["gender"].tolist() == [0, 1, 0]
    assert table.labels.tolist() == [0, 1, 0]
    assert table.features.shape == (3, 121)


def test_a_feature_says_whether_a_member_is_above_the_median(tmp_path):
    people = members(*((str(i), AGES[i], "F") for i in range(1, 8)))
    claims = [{"MemberID": str(i)} for i in range(1, 8) for _ in range(i)]
    table = loaded(release(tmp_path, claims, **people))
    column = dict(zip(table.feature_names, table.features.T, strict=True))
    np.testing.assert_array_equal(column["claims"], [0, 0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(column["place Office"], column["claims"])
    np.testing.assert_array_equal(column["providers"], 0)  # one each
    np.testing.assert_array_equal(column["labs months"], [1, 0, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(column["labs absent"], 0)  # most are above nothing


def test_a_column_that_is_rarely_above_its_median_is_cleared():
    values = np.zeros((100, 3))
    values[:5, 0] = values[:6, 1] = 1
    values[:, 2] = range(100)
    assert binarised(values).sum(axis=0).tolist() == [0, 6, 50]


def test_neither_age_nor_sex_nor_charlson_is_a_feature():
    names = " ".join(plugins.create("dataset", "health").feature_names).lower()
    for word in ("age", "sex", "gender", "charlson"):
        assert word not in names


def test_an_unknown_category_or_age_is_named(tmp_path):
    with pytest.raises(InputError, match=r"dataset.health: has claims of the 'place Moon'"):
        loaded(release(tmp_path, [{"PlaceSvc": "Moon"}]))
    with pytest.raises(InputError, match=r"dataset.health: cannot be read \(.*\)"):
        loaded(release(tmp_path, [{}], **members(("1", "90+", "F"))))


def test_a_damaged_zip_is_named(tmp_path):
    files = release(tmp_path, [{}])
    path = files["HHP_release3.zip"]
    for content in (path.read_bytes()[:-40], b"<html>"):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"dataset.health: cannot be read \("):
            loaded(files)


def test_rows_are_those_of_the_papers_up_to_a_tenth():
    dataset = plugins.create("dataset", "health")
    dataset.check_rows(51_000)
    with pytest.raises(InputError, match="has 40,000 rows; expected 55,000"):
        dataset.check_rows(40_000)
    with pytest.raises(InputError, match="has 20,001 rows; expected 20,000"):
        dataset.of_version("stand-in").check_rows(20_001)
