"""The contract of datasets: every file on disk declares it, keeps it, and has a faithful stand-in."""

from __future__ import annotations

import csv
import hashlib
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cutlayer import plugins
from cutlayer.acquire import COLUMNS, read_sources
from cutlayer.datasets import describe, normalise, read
from cutlayer.datasets.base import Dataset
from cutlayer.errors import InputError
from cutlayer.standins.tabular import stand_in

SOURCES = Path(__file__).parents[2] / "data/sources.csv"
NAMES = plugins.names("dataset")
TABULAR = [name for name in NAMES if plugins.create("dataset", name).kind == "tabular"]
WITHOUT_FILES = sorted({row.dataset for row in read_sources(SOURCES) if not row.file} & set(NAMES))
WITH_FILES = sorted(set(TABULAR) - set(WITHOUT_FILES))
MIRROR = os.environ.get("CUTLAYER_MIRROR", "")
needs_mirror = pytest.mark.skipif(not MIRROR, reason="the original files are needed: set CUTLAYER_MIRROR")


def plugin(name: str) -> Dataset:
    return plugins.create("dataset", name)


def write_sources(path: Path, **fields: str) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerow(dict.fromkeys(COLUMNS, "") | {"version": "full", "provenance": "real"} | fields)
    return path


@pytest.mark.parametrize("name", NAMES)
def test_a_dataset_has_the_attributes_of_the_contract(name):
    literals = plugins.method("dataset", name).constants
    dataset = plugin(name)
    assert isinstance(dataset, Dataset)
    assert dataset.name == name
    assert {"rows", "columns", "classes", "class_names", "class_rates"} <= set(literals)
    assert len(dataset.class_names) == len(dataset.class_rates) == dataset.classes
    assert sum(dataset.class_rates) == pytest.approx(1, abs=5e-4)
    assert type(dataset).__doc__


@pytest.mark.parametrize("name", NAMES)
def test_a_dataset_has_a_source(name):
    assert any(row.dataset == name for row in read_sources(SOURCES))


@pytest.mark.parametrize("name", TABULAR)
def test_a_schema_covers_every_column(name):
    dataset = plugin(name)
    assert len(dataset.feature_names) == dataset.columns
    for feature in dataset.feature_names:
        if feature not in dataset.categorical:
            marginal = dataset.marginal(feature)
            ordered = list(marginal)
            assert ordered == sorted(ordered)
            assert isinstance(marginal, tuple) or sum(marginal.values()) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("name", TABULAR)
def test_a_stand_in_keeps_the_contract(name):
    dataset = plugin(name)
    table = stand_in(dataset)
    dataset.check(table)
    counts = np.bincount(table.labels) / dataset.rows
    np.testing.assert_allclose(counts, np.array(dataset.class_rates), atol=1 / dataset.rows + 5e-4)
    for feature, levels in dataset.categorical.items():
        assert len(np.unique(table.features[:, table.feature_names.index(feature)])) == levels
    assert (table.features.std(axis=0) > 0).all()


@pytest.mark.parametrize("name", TABULAR)
def test_a_stand_in_is_the_same_on_every_call(name):
    first, second = stand_in(plugin(name)), stand_in(plugin(name))
    np.testing.assert_array_equal(first.features, second.features)
    np.testing.assert_array_equal(first.labels, second.labels)


def test_a_stand_in_has_the_declared_sensitive_attributes():
    class Toy(plugins.create("dataset", "wine").__class__):
        attributes = {"sex": 2, "race": 5}  # noqa: RUF012

    table = stand_in(Toy())
    assert {name: int(codes.max()) + 1 for name, codes in table.attributes.items()} == {"sex": 2, "race": 5}
    Toy().check(table)


@pytest.mark.parametrize("name", TABULAR)
def test_a_logistic_regression_learns_from_a_stand_in(name):
    from sklearn.linear_model import LogisticRegression

    from cutlayer.preprocess import prepare

    dataset = plugin(name)
    table = stand_in(dataset)
    train, test = np.arange(0, dataset.rows, 2)[:3000], np.arange(1, dataset.rows, 2)[:3000]
    x, _ = prepare(table, train, "train")
    model = LogisticRegression(C=100, max_iter=2000).fit(x[train], table.labels[train])
    majority = np.bincount(table.labels[test]).max() / len(test)
    assert model.score(x[test], table.labels[test]) > majority + 0.01


@pytest.mark.parametrize("name", WITHOUT_FILES)
def test_bundled_and_generated_datasets_need_no_files(name, tmp_path):
    normalise(name, tmp_path / "raw", None, False, SOURCES, tmp_path / "n")
    table, meta = read(tmp_path / "n", name)
    dataset = plugin(name)
    dataset.check(table)
    assert meta["where"] in ("bundled with scikit-learn", "generated")
    assert meta["provenance"] == ("synthetic" if meta["where"] == "generated" else "real")
    assert (meta["rows"], meta["features"]) == (dataset.rows, dataset.columns)
    assert sum(meta["class_counts"]) == dataset.rows
    assert not (tmp_path / "raw").exists()


@pytest.mark.parametrize("name", WITH_FILES)
def test_a_stand_in_is_normalised_with_its_reason_or_refused(name, tmp_path):
    sources = write_sources(tmp_path / "sources.csv", dataset=name, file="gone.csv", sha256="0" * 64)
    with pytest.raises(InputError, match=rf"dataset.{name}: is not available: .*gone.csv"):
        normalise(name, tmp_path / "raw", None, False, sources, tmp_path / "n")
    assert not (tmp_path / "n").exists()
    normalise(name, tmp_path / "raw", None, True, sources, tmp_path / "n")
    table, meta = read(tmp_path / "n", name)
    plugin(name).check(table)
    assert (meta["provenance"], meta["where"], meta["files"]) == ("stand-in", "generated", {})
    assert "gone.csv" in meta["note"]
    assert str(tmp_path) not in (tmp_path / "n" / f"{name}.json").read_text()


def test_normalised_data_are_the_same_bytes_on_every_run(tmp_path):
    for folder in ("a", "b"):
        normalise("wine", tmp_path / "raw", None, False, SOURCES, tmp_path / folder)
    for file in ("wine.safetensors", "wine.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_a_file_that_is_not_the_dataset_fails_loudly_and_leaves_no_result(tmp_path):
    lines = {"short.data": "1.0," * 24 + "Move-Forward\n", "broken.data": "x," * 24 + "Move-Forward\n"}
    expected = {"short.data": "has 1 rows; 5,456 expected", "broken.data": "cannot be read"}
    for version, text in lines.items():
        raw = tmp_path / version / "robot"
        raw.mkdir(parents=True)
        (raw / "sensor_readings_24.data").write_text(text)
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        fields = {"dataset": "robot", "file": "sensor_readings_24.data", "sha256": sha256}
        sources = write_sources(tmp_path / "sources.csv", **fields)
        with pytest.raises(InputError, match=rf"dataset.robot: {expected[version]}"):
            normalise("robot", raw.parent, None, True, sources, tmp_path / "n")
        assert not (tmp_path / "n").exists()


def wrong_tables():
    table = stand_in(plugin("bank"))
    job, age = table.feature_names.index("job"), table.feature_names.index("age")

    def changed(column: int, value: float):
        features = table.features.copy()
        features[5, column] = value
        return replace(table, features=features)

    yield (
        replace(table, features=table.features[:-1], labels=table.labels[:-1]),
        "has 41,187 rows; 41,188 expected",
    )
    yield replace(table, features=table.features[:, :-1]), "has 18 columns; 19 expected"
    yield replace(table, labels=table.labels[:-1]), "another length"
    yield replace(table, labels=1 - table.labels), "rate of 0.1127 of class 'no'; 0.8873"
    yield replace(table, labels=table.labels + 1), "label has codes outside its levels; integers 0 to 1"
    yield replace(table, feature_names=table.feature_names[::-1]), "other features"
    yield replace(table, attributes={"sex": table.labels}), "other features or attributes"
    yield changed(age, np.nan), "not finite"
    yield changed(age, 170), "age ranges from 17 to 170; 17 to 98 expected"
    yield changed(job, 12), "job has codes outside its levels"
    yield changed(job, 0.5), "job has codes outside its levels"


def test_every_kind_of_wrong_table_fails_the_check():
    for table, wrong in wrong_tables():
        with pytest.raises(InputError, match=r"^dataset\.bank: ") as caught:
            plugin("bank").check(table)
        assert wrong in str(caught.value)


def test_texts_outside_the_declared_levels_are_named():
    with pytest.raises(InputError, match=r"dataset.bank: has the class 'maybe'; no, yes expected"):
        plugin("bank").label_codes(np.array(["no", "maybe"]))
    with pytest.raises(InputError, match=r"dataset.bank: contact has 1 levels; 2 expected"):
        plugin("bank").codes("contact", np.array(["cellular", "cellular"]))


def test_describe_has_one_row_per_dataset(tmp_path):
    for name in ("wine", "digits"):
        normalise(name, tmp_path / "raw", None, False, SOURCES, tmp_path)
    table = describe(tmp_path, ["wine", "digits"])
    assert list(table.columns) == [
        "dataset",
        "provenance",
        "rows",
        "features",
        "classes",
        "licence",
        "where from",
    ]
    assert table.dataset.tolist() == ["wine", "digits"]
    assert table.rows.tolist() == [178, 1797]


@needs_mirror
@pytest.mark.parametrize("name", WITH_FILES)
def test_the_original_files_load_and_pass_the_check(name, tmp_path):
    normalise(name, tmp_path / "raw", MIRROR, False, SOURCES, tmp_path / "n")
    table, meta = read(tmp_path / "n", name)
    assert meta["where"] == "mirror"
    assert meta["provenance"] in ("real", "sample")
    assert table.features.shape == (plugin(name).rows, plugin(name).columns)
    assert MIRROR not in (tmp_path / "n" / f"{name}.json").read_text()
