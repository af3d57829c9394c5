"""The contract of datasets: every file on disk declares it, keeps it, and has a faithful stand-in."""

from __future__ import annotations

import csv
import functools
import hashlib
import importlib
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.games.contracts import near

from cutlayer.core.artifacts import checksum, read_arrays, write_arrays
from cutlayer.core.errors import InputError
from cutlayer.data import normalised
from cutlayer.data.acquire import Acquired
from cutlayer.data.datasets.base import DTYPES, MAPPED, MISSING, Dataset, Table
from cutlayer.data.normalised import describe, facts, normalise, read
from cutlayer.data.sources import COLUMNS, is_local, read_sources, versions_of
from cutlayer.data.standins.tabular import stand_in
from cutlayer.data.verify import damaged
from cutlayer.ledger.cells import NO_SEED, gather
from cutlayer.plan import plugins

SOURCES = Path(__file__).parents[2] / "data/sources.csv"
NAMES = plugins.names("dataset")
KIND = {name: plugins.create("dataset", name).kind for name in NAMES}
TABULAR, CLICKS, IMAGES = ([name for name in NAMES if KIND[name] == kind] for kind in DTYPES)
WITHOUT_FILES = sorted({row.dataset for row in read_sources(SOURCES) if not row.file} & set(NAMES))
WITH_FILES = sorted(set(NAMES) - set(WITHOUT_FILES))
MIRRORED = [name for name in WITH_FILES if name != "avazu_days" and not plugins.home("dataset", name)]
MIRROR = os.environ.get("CUTLAYER_MIRROR", "")


def plugin(name: str) -> Dataset:
    return plugins.create("dataset", name)


def stand_in_of(name: str, **declared: int) -> tuple[Dataset, Table]:
    """The dataset as its stand-in declares it, or with more or less of something, and the stand-in."""
    dataset = plugin(name).of_version("stand-in")
    vars(dataset).update(declared)
    return dataset, maker_of(dataset).stand_in(dataset)


def maker_of(dataset: Dataset) -> ModuleType:
    """What makes the stand-in of a dataset."""
    return importlib.import_module(f"cutlayer.data.standins.{dataset.kind}")


generated = functools.cache(stand_in_of)


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
    lacking = {"rows", "columns", "classes", "class_names", "class_rates"} - set(literals)
    assert not lacking, f"does not say its {' and '.join(sorted(lacking))}; expected a literal"
    counts = len(dataset.class_names), len(dataset.class_rates)
    said = f"has {dataset.classes} classes, {counts[0]} class_names and {counts[1]} class_rates"
    assert counts == (dataset.classes, dataset.classes), f"{said}; expected as many of each"
    for version in ("full", *dataset.versions):
        total = sum(dataset.of_version(version).class_rates)
        assert total == pytest.approx(1, abs=5e-4), f"its class_rates add up to {total:g}; expected 1"
    assert vars(type(dataset)).get("__doc__"), "its class has no docstring; expected a sentence"


@pytest.mark.parametrize("name", NAMES)
def test_values_that_a_dataset_names_are_those_of_its_attributes_each_once(name):
    dataset = plugin(name)
    for attribute, values in dataset.values.items():
        codes = dataset.attributes.get(attribute)
        assert codes, f"has values of {attribute}, which is none of its attributes"
        said = f"{attribute} has {codes} codes and the values {', '.join(map(str, values))}"
        assert len(set(values)) == len(values) == codes, f"{said}; expected one for each code"


def test_the_first_sex_of_adult_is_the_rarer_one():
    assert plugins.method("dataset", "adult_codes").constants["values"]["sex"] == ("female", "male")
    assert plugin("adult_codes").schema["sex"] == {0: 0.3308, 1: 0.6692}


@pytest.mark.parametrize("name", NAMES)
def test_a_dataset_has_a_source(name):
    versions = {rows[0].version for rows in versions_of(name, plugins.home("dataset", name) or SOURCES, None)}
    assert versions, "has no source; expected data/sources.csv or a folder of its name beside it"
    unknown = set(plugin(name).versions) - {"stand-in"} - versions
    assert not unknown, f"has the version {', '.join(sorted(unknown))}, of which there is no source"


def test_another_version_differs_where_it_says_so_and_leaves_the_dataset_alone():
    dataset = plugin("criteo")
    sample = dataset.of_version("sample")
    assert (dataset.rows, sample.rows, sample.columns) == (45_840_617, 8_000, dataset.columns)
    assert (sample.name, dataset.of_version("full").rows) == ("criteo", 45_840_617)


@pytest.mark.parametrize("name", IMAGES)
def test_images_have_a_shape_and_no_names(name):
    dataset = plugin(name)
    assert dataset.feature_names == (), "images have no feature_names"
    pixels = int(np.prod(dataset.shape))
    assert pixels == dataset.columns, f"has {dataset.columns} columns and the shape {dataset.shape}; expected {pixels}"


@pytest.mark.parametrize("name", [*TABULAR, *CLICKS])
def test_a_schema_covers_every_column(name):
    dataset = plugin(name)
    count = len(dataset.feature_names)
    assert count == dataset.columns, f"has {dataset.columns} columns and {count} in its schema; expected as many"
    for feature in dataset.feature_names:
        if feature not in dataset.categorical:
            marginal = dataset.marginal(feature)
            ordered = list(marginal)
            assert ordered == sorted(ordered), f"the schema of {feature} is not in ascending order: {ordered[:5]}"
            total = 1 if isinstance(marginal, tuple) else sum(marginal.values())
            assert total == pytest.approx(1, abs=0.01), f"the shares of {feature} add up to {total:g}; expected 1"


@pytest.mark.parametrize("name", NAMES)
def test_a_stand_in_keeps_the_contract(name):
    dataset, table = generated(name)
    dataset.check(table)
    counts = np.bincount(table.labels) / dataset.rows
    rates = np.array(dataset.class_rates)
    assert near(counts, rates, atol=1 / dataset.rows + 5e-4), (
        f"its stand-in has class rates of {counts}; expected {rates}"
    )
    for feature, levels in dataset.categorical.items():
        found = len(np.unique(table.features[:, table.feature_names.index(feature)]))
        all_there = found == levels if dataset.kind == "tabular" else 1 < found <= levels
        assert all_there, f"{feature} has {found} levels in its stand-in; expected {levels}"
    constant = np.flatnonzero((table.features.std(axis=0) == 0).ravel())
    assert not len(constant), f"column {constant[:1]} of its stand-in has one value; expected several in its schema"


@pytest.mark.parametrize("name", NAMES)
def test_a_stand_in_is_the_same_on_every_call(name):
    first, second = (stand_in_of(name, rows=500)[1] for _ in range(2))
    assert len(first.labels) == 500
    same = np.array_equal(first.features, second.features) and np.array_equal(first.labels, second.labels)
    assert same, "its stand-in is another one each time"


def test_stand_ins_of_two_datasets_differ():
    first, second = generated("mnist")[1], generated("fashion_mnist")[1]
    assert (first.features != second.features).any()


def test_a_stand_in_has_the_declared_sensitive_attributes():
    class Toy(plugins.create("dataset", "wine").__class__):
        attributes = {"sex": 2, "race": 5}  # noqa: RUF012

    table = stand_in(Toy())
    assert {name: int(codes.max()) + 1 for name, codes in table.attributes.items()} == {"sex": 2, "race": 5}
    Toy().check(table)


@pytest.mark.parametrize("name", [name for name in TABULAR if plugin(name).attributes])
def test_an_attribute_whose_codes_are_a_feature_too_is_that_column(name):
    dataset, table = generated(name)
    real = [dataset.load({})] if name in WITHOUT_FILES else []
    for found in (table, *real):
        for attribute in [a for a in dataset.attributes if isinstance(dataset.schema.get(a), (int, Mapping))]:
            column = found.features[:, dataset.feature_names.index(attribute)]
            same = np.array_equal(found.attributes[attribute], column)
            assert same, f"the attribute {attribute} is not the column of that name"


def test_the_attributes_of_diabetes_are_sex_and_an_age_above_the_median():
    dataset = plugin("diabetes")
    table = dataset.load({})
    age = table.features[:, 0]
    np.testing.assert_array_equal(table.attributes["age"], age > 50)
    assert np.bincount(table.attributes["sex"]).tolist() == [235, 207]


@pytest.mark.parametrize("name", TABULAR)
def test_a_logistic_regression_learns_from_a_stand_in(name):
    from sklearn.linear_model import LogisticRegression

    from cutlayer.games.vertical.preprocess import prepare

    dataset, table = generated(name)
    train, test = np.arange(0, dataset.rows, 2)[:3000], np.arange(1, dataset.rows, 2)[:3000]
    x, _ = prepare(table, train, "train")
    model = LogisticRegression(C=100, max_iter=2000).fit(x[train], table.labels[train])
    majority = np.bincount(table.labels[test]).max() / len(test)
    score = model.score(x[test], table.labels[test])
    said = (
        f"a logistic regression is right in {score:.1%} of its stand-in's rows, the most common class in {majority:.1%}"
    )
    assert score > majority + 0.01, f"{said}; expected more"


def hot(table: Table, buckets: int = 1000):
    """Each category as a column of its own, up to clashes, beside the logarithms of the counts (n, d)."""
    from scipy import sparse

    codes = np.array([name in table.categorical for name in table.feature_names])
    places = table.features[:, codes] % buckets + buckets * np.arange(codes.sum())
    ends = np.arange(0, places.size + 1, codes.sum())
    shape = (len(places), buckets * codes.sum())
    categories = sparse.csr_matrix((np.ones(places.size), places.ravel(), ends), shape)
    return sparse.hstack([categories, np.log1p(np.maximum(table.features[:, ~codes], 0))]).tocsr()


@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
@pytest.mark.parametrize("name", CLICKS)
def test_a_logistic_regression_tells_clicks_of_a_stand_in(name):
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    _, table = generated(name)
    x, places = hot(table), np.arange(len(table.labels))
    train, test = places[places % 2 == 0], places[places % 2 == 1]
    scores = LogisticRegression(C=0.03, max_iter=50).fit(x[train], table.labels[train]).decision_function(x[test])
    found = roc_auc_score(table.labels[test], scores)
    assert found > 0.6, f"a logistic regression has an AUC of {found:.3f} on its stand-in; expected more than 0.6"


@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
@pytest.mark.parametrize("name", IMAGES)
def test_a_logistic_regression_tells_images_of_a_stand_in(name):
    from sklearn.linear_model import LogisticRegression

    _, table = generated(name)
    x, y = table.features[:2000].reshape(2000, -1) / 255, table.labels[:2000]
    model = LogisticRegression(max_iter=20).fit(x[:1000], y[:1000])
    score, majority = model.score(x[1000:], y[1000:]), np.bincount(y).max() / len(y)
    said = (
        f"a logistic regression is right in {score:.1%} of its stand-in's rows, the most common class in {majority:.1%}"
    )
    assert score > 0.1 + majority, f"{said}; expected a tenth more"


def test_days_of_a_stand_in_come_in_order_and_change_slowly():
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    _, table = generated("avazu_days")
    day, x = table.attributes["day"], hot(table)
    assert (np.diff(day) >= 0).all()
    assert np.bincount(day).tolist() == [4000] * 10
    model = LogisticRegression(C=0.03, max_iter=50).fit(x[day == 0], table.labels[day == 0])
    auc = [roc_auc_score(table.labels[day == k], model.decision_function(x[day == k])) for k in range(10)]
    assert min(auc) > 0.6
    assert np.mean(auc[1:4]) > np.mean(auc[7:])


def test_counts_of_a_stand_in_are_missing_now_and_then():
    dataset, table = generated("criteo")
    counts = table.features[:, : len(dataset.feature_names) - len(dataset.categorical)]
    missing = (counts == MISSING).mean(axis=0)
    assert (missing > 0.1).all()
    assert (missing < 0.3).all()


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
def test_a_stand_in_is_normalised_with_its_reason_or_refused(name, tmp_path, monkeypatch):
    def drawn_before(dataset: Dataset) -> Table:
        known, table = generated(dataset.name)
        assert vars(dataset) == vars(known)
        return table

    monkeypatch.setattr(maker_of(plugin(name)), "stand_in", drawn_before)
    sources = write_sources(tmp_path / "sources.csv", dataset=name, file="gone.csv", sha256="0" * 64)
    with pytest.raises(InputError, match=rf"dataset.{name}: is not available: .*gone.csv"):
        normalise(name, tmp_path / "raw", None, False, sources, tmp_path / "n")
    assert not (tmp_path / "n").exists()
    normalise(name, tmp_path / "raw", None, True, sources, tmp_path / "n")
    table, meta = read(tmp_path / "n", name)
    plugin(name).of_version("stand-in").check(table)
    assert (meta["provenance"], meta["where"], meta["files"]) == ("stand-in", "generated", {})
    assert "gone.csv" in meta["note"]
    assert str(tmp_path) not in (tmp_path / "n" / f"{name}.json").read_text()


def test_normalised_data_are_the_same_bytes_on_every_run(tmp_path):
    for folder in ("a", "b"):
        normalise("wine", tmp_path / "raw", None, False, SOURCES, tmp_path / folder)
    for file in ("wine.safetensors", "wine.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_the_json_is_about_these_arrays_and_no_others(tmp_path):
    """So what changes in the arrays changes the json, which workflows look at."""
    normalise("wine", tmp_path / "raw", None, False, SOURCES, tmp_path)
    arrays, meta = read_arrays(tmp_path / "wine.safetensors")
    assert facts(tmp_path, "wine")["arrays"] == checksum(tmp_path / "wine.safetensors")
    write_arrays(tmp_path / "wine.safetensors", arrays | {"labels": arrays["labels"][::-1]}, meta)
    with pytest.raises(InputError, match=r"^file\..*wine.safetensors: is not the one that its json describes; "):
        read(tmp_path, "wine")


def test_a_file_that_is_not_the_dataset_fails_loudly_and_leaves_no_result(tmp_path):
    lines = {"short.data": "1.0," * 24 + "Move-Forward\n", "broken.data": "x," * 24 + "Move-Forward\n"}
    expected = {"short.data": "has 1 rows; expected 5,456", "broken.data": "cannot be read"}
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
        "has 41,187 rows; expected 41,188",
    )
    yield replace(table, features=table.features[:, :-1]), "has 18 columns; expected 19"
    yield replace(table, labels=table.labels[:-1]), "another length"
    yield replace(table, labels=1 - table.labels), "rate of 0.1127 of class 'no'; expected 0.8873"
    yield replace(table, labels=table.labels + 1), "label has codes outside its levels; expected integers 0 to 1"
    yield replace(table, feature_names=table.feature_names[::-1]), "other features"
    yield replace(table, attributes={"sex": table.labels}), "other features or attributes"
    yield changed(age, np.nan), "not finite"
    yield changed(age, 170), "age ranges from 17 to 170; expected 17 to 98"
    yield changed(job, 12), "job has codes outside its levels"
    yield changed(job, 0.5), "job has codes outside its levels"


def test_every_kind_of_wrong_table_fails_the_check():
    for table, wrong in wrong_tables():
        with pytest.raises(InputError, match=r"^dataset\.bank: ") as caught:
            plugin("bank").check(table)
        assert wrong in str(caught.value)


def test_texts_outside_the_declared_levels_are_named():
    with pytest.raises(InputError, match=r"dataset.bank: has the class 'maybe'; expected no, yes"):
        plugin("bank").label_codes(np.array(["no", "maybe"]))
    with pytest.raises(InputError, match=r"dataset.bank: contact has 1 levels; expected 2"):
        plugin("bank").codes("contact", np.array(["cellular", "cellular"]))


def test_labels_that_are_numbers_are_coded_like_their_names():
    class Numbered(Dataset):
        classes, class_names = 2, ("1", "2")

    assert Numbered().label_codes(np.array([1, 2, 2])).tolist() == [0, 1, 1]
    assert Numbered().label_codes(np.array(["2", "1"], object)).tolist() == [1, 0]
    with pytest.raises(InputError, match=r"has the class '3'; expected 1, 2"):
        Numbered().label_codes(np.array([1, 3]))


class Own(Dataset):
    """A dataset of one's own, of 730 rows."""

    rows, columns, classes, class_names, class_rates = 730, 1, 2, ("no", "yes"), (0.5, 0.5)
    schema = {"*": (-1e300, 1e300)}  # noqa: RUF012
    name = "own"

    def __init__(self, kind: str = "tabular", **declared: object) -> None:
        vars(self).update({"kind": kind} | declared)


HALVES = np.arange(730) % 2
BEYOND = 2**53 + 1  # the first whole number that a float64 cannot hold


@pytest.mark.parametrize(
    ("kind", "values", "wrong"),
    [
        ("images", np.linspace(0.2, 0.8, 730, dtype=np.float32), "whole numbers of 0 to 255; 0.2"),
        ("images", np.arange(730), "whole numbers of 0 to 255; 256 is among them"),
        ("images", np.full(730, -1), "whole numbers of 0 to 255; -1"),
        ("images", np.full(730, np.nan), "whole numbers of 0 to 255; nan"),
        ("clicks", np.full(730, 2**31), "whole numbers of -2147483648 to 2147483647; 2147483648"),
        ("clicks", np.full(730, 0.5), "whole numbers of -2147483648 to 2147483647; 0.5"),
        ("tabular", np.full(730, BEYOND), f"numbers that float64 keeps exactly; {BEYOND} is among them"),
        ("tabular", np.full(730, 1j), "numbers that float64 keeps exactly; 1j"),
        ("tabular", np.full(730, "much"), "numbers; .*'much'"),
        ("tabular", np.full(730, {}), "numbers; .*dict"),
    ],
)
def test_features_that_would_become_others_are_refused(kind, values, wrong):
    with pytest.raises(InputError, match=f"^dataset.own: features are not {wrong}"):
        Own(kind).table(values[:, None], HALVES)


@pytest.mark.parametrize("values", [HALVES + 0.1, HALVES * 1.9, HALVES * np.nan, np.full(730, 2**63, np.uint64)])
def test_labels_and_attributes_that_would_become_others_are_refused(values):
    for what in ("labels", "sex"):
        with pytest.raises(InputError, match=f"^dataset.own: {what} are not whole numbers; .* is among them"):
            Own().table(HALVES[:, None], *((values,) if what == "labels" else (HALVES, {"sex": values})))


def test_what_is_no_number_is_refused():
    for values, wrong in (
        (HALVES.astype("M8[D]"), "are of the type datetime64"),
        (np.ma.masked_equal(HALVES, 1), "have values that are masked"),
    ):
        with pytest.raises(InputError, match=f"^dataset.own: features {wrong}"):
            Own().table(values[:, None], HALVES)


@pytest.mark.parametrize("given", [np.float32, np.float64, np.int8, np.uint16, np.uint64, bool, object, str, "S1"])
def test_values_that_stay_what_they_are_may_have_any_type(given):
    for kind in DTYPES:
        values = HALVES.astype(given)
        table = Own(kind).table(values[:, None], values, {"sex": values})
        assert (table.features.dtype, table.labels.dtype, table.attributes["sex"].dtype) == (DTYPES[kind], *2 * ["i8"])
        for found in (table.features[:, 0], table.labels, table.attributes["sex"]):
            np.testing.assert_array_equal(found, HALVES)


@pytest.mark.parametrize("kind", ["clicks", "images", "tabular"])
def test_codes_above_a_byte_are_read_back_as_they_were(kind, tmp_path):
    days, labels = np.arange(730) % 365, np.arange(730) % 257
    rates = tuple(np.bincount(labels) / 730)
    own = Own(kind, classes=257, class_names=tuple(map(str, range(257))), class_rates=rates, attributes={"day": 365})
    parts = [own.table(HALVES[half, None], labels[half], {"day": days[half]}) for half in np.split(np.arange(730), 2)]
    if kind == "tabular":
        parts = [own.table(HALVES[:, None], labels, {"day": days})]
    found = Acquired("own", "own", "real", "", "", "", {}, {})
    normalised._write(tmp_path, own, iter(parts), found)
    table, _ = read(tmp_path, "own")
    np.testing.assert_array_equal(table.attributes["day"], days)
    np.testing.assert_array_equal(table.labels, labels)


def test_rows_of_one_class_are_refused():
    own = Own(class_rates=(1.0, 0.0))
    with pytest.raises(InputError, match=r"^dataset.own: has rows of one class only; expected two classes or more"):
        own.check(own.table(HALVES[:, None], 0 * HALVES))


@pytest.mark.parametrize(("count", "listed"), [(2, "0.png, 1.png of"), (2000, "0.png, 1.png, .* and 1,990 more of")])
def test_a_message_lists_a_few_files(count, listed):
    class Broken(Own):
        def load(self, files):
            raise ValueError("bad line")

    files = {f"{place}.png": Path(f"{place}.png") for place in range(count)}
    found = Acquired("own", "own", "real", "", "", "", files, {})
    with pytest.raises(InputError, match=rf"^dataset.own: cannot be read \(bad line\); expected {listed} the") as told:
        next(normalised._loaded(Broken(), found))
    assert len(str(told.value)) < 300


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
        "note",
    ]
    assert table.dataset.tolist() == ["wine", "digits"]
    assert table.rows.tolist() == [178, 1797]


def test_the_page_of_data_says_of_every_dataset_where_it_is_from():
    page = (SOURCES.parents[1] / "docs/data.md").read_text()
    for row in read_sources(SOURCES):
        for name in filter(None, (row.dataset, *row.serves.split(), row.package)):
            assert f"`{name}`" in page, f"docs/data.md does not name {name}"


@pytest.mark.mirror
def test_the_mirror_holds_all_but_the_days_of_avazu(tmp_path):
    versions = {name: versions_of(name, SOURCES, None) for name in WITH_FILES}
    absent = [name for name, own in versions.items() if not any(is_local(rows, tmp_path, MIRROR) for rows in own)]
    assert absent == ["avazu_days"]


@pytest.mark.mirror
@pytest.mark.parametrize("name", MIRRORED)
def test_the_original_files_load_and_pass_the_check(name, tmp_path):
    normalise(name, tmp_path / "raw", MIRROR, False, SOURCES, tmp_path / "n")
    table, meta = read(tmp_path / "n", name)
    dataset = plugin(name).of_version(meta["version"])
    assert meta["where"] == "mirror"
    assert meta["provenance"] in ("real", "sample")
    assert table.features.shape == (dataset.rows, *(dataset.shape or (dataset.columns,)))
    assert (meta["rows"], meta["features"]) == (dataset.rows, dataset.columns)
    dataset.check(table)
    assert MIRROR not in (tmp_path / "n" / f"{name}.json").read_text()


@pytest.mark.mirror
@pytest.mark.parametrize("name", ["adult_codes", "loans"])
def test_the_declared_marginals_are_those_of_the_files(name, tmp_path):
    normalise(name, tmp_path / "raw", MIRROR, False, SOURCES, tmp_path / "n")
    dataset, (table, _) = plugin(name), read(tmp_path / "n", name)
    for feature, column in zip(dataset.feature_names, table.features.T, strict=True):
        marginal = dataset.marginal(feature)
        if isinstance(marginal, Mapping):  # each value stands for those above the one before it
            counts = np.bincount(np.searchsorted(list(marginal), column), minlength=len(marginal))
            np.testing.assert_allclose(counts / dataset.rows, list(marginal.values()), atol=5.1e-5, err_msg=feature)
        else:
            np.testing.assert_array_equal(np.quantile(column, np.linspace(0, 1, len(marginal))), marginal, feature)


@pytest.mark.mirror
def test_adults_codes_are_adult_without_its_last_rows_and_the_text_of_education(tmp_path):
    for name in ("adult", "adult_codes"):
        normalise(name, tmp_path / "raw", MIRROR, False, SOURCES, tmp_path / "n")
    (adult, _), (codes, meta) = (read(tmp_path / "n", name) for name in ("adult", "adult_codes"))
    kept = [name != "education" for name in adult.feature_names]
    np.testing.assert_array_equal(codes.features, adult.features[: len(codes.labels), kept])
    np.testing.assert_array_equal(codes.labels, adult.labels[: len(codes.labels)])
    for name, values in codes.attributes.items():
        np.testing.assert_array_equal(values, adult.attributes[name][: len(codes.labels)])
    assert codes.attributes.keys() == adult.attributes.keys()
    assert (meta["categorical"], list(meta["files"])) == ([], ["adult.data"])


def test_texts_of_adult_become_numbers_in_their_order_and_all_must_be_there(tmp_path, monkeypatch):
    people = [
        "39, State-gov, 7, Bachelors, 13, Divorced, ?, Wife, White, Male, 0, 0, 40, ?, >50K",
        "50, ?, 8, HS-grad, 9, Widowed, Sales, Husband, Black, Female, 9, 0, 13, Cuba, <=50K",
    ]
    (tmp_path / "adult.data").write_text("\n".join(people) + "\n\n")
    dataset = plugin("adult_codes")
    with pytest.raises(InputError, match=r"dataset.adult_codes: workclass has 2 levels; expected 9"):
        dataset.load({"adult.data": tmp_path / "adult.data"})
    numbers = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
    schema = {name: dataset.schema[name] if name in numbers else {0: 0.5, 1: 0.5} for name in dataset.schema}
    monkeypatch.setattr(type(dataset), "schema", schema)
    table = dataset.load({"adult.data": tmp_path / "adult.data"})
    expected = [[39, 1, 7, 13, 0, 0, 1, 1, 1, 0, 0, 40, 0], [50, 0, 8, 9, 1, 1, 0, 0, 0, 9, 0, 13, 1]]
    np.testing.assert_array_equal(table.features, expected)
    assert table.labels.tolist() == [1, 0]
    assert {name: codes.tolist() for name, codes in table.attributes.items()} == {
        "sex": [1, 0],
        "relationship": [1, 0],
        "marital-status": [0, 1],
        "race": [1, 0],
    }


def test_a_table_of_another_kind_fails_the_check():
    for name, dtype in (("mnist", np.float64), ("criteo", np.int64)):
        dataset, table = generated(name)
        with pytest.raises(InputError, match=rf"dataset.{name}: has features of the type {dtype.__name__}"):
            dataset.check(replace(table, features=table.features.astype(dtype)))
    dataset, table = generated("mnist")
    with pytest.raises(InputError, match=r"mnist: has examples of the shape \(1, 28, 27\); expected \(1, 28, 28\)"):
        dataset.check(replace(table, features=table.features[..., 1:]))
    dataset, table = generated("criteo")
    with pytest.raises(InputError, match=r"criteo: C1 has codes outside its levels"):
        dataset.check(replace(table, features=-abs(table.features)))
    with pytest.raises(InputError, match=r"criteo: has 20,000 rows; expected 45,840,617"):
        plugin("criteo").check(table)


@pytest.mark.parametrize("name", ["wine", "avazu_days", "cifar10"])
def test_what_is_read_is_what_was_loaded(name, tmp_path):
    sources = write_sources(tmp_path / "sources.csv", dataset=name, file="gone.csv", sha256="0" * 64)
    normalise(name, tmp_path / "raw", None, True, sources, tmp_path / "n")
    (table, meta), (dataset, expected) = read(tmp_path / "n", name), generated(name)
    for found, wanted in zip(
        (table.features, table.labels, *table.attributes.values()),
        (expected.features, expected.labels, *expected.attributes.values()),
        strict=True,
    ):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
    assert table.features.flags.writeable == (dataset.kind not in MAPPED)
    assert (table.feature_names, table.categorical) == (expected.feature_names, expected.categorical)
    assert meta["class_counts"] == np.bincount(expected.labels).tolist()


@pytest.mark.parametrize("name", ["wine", "avazu_days"])
def test_a_changed_byte_is_found_in_small_data_when_read_and_in_large_data_by_verify(name, tmp_path):
    folder = tmp_path / "data/normalised"
    folder.mkdir(parents=True)
    sources = write_sources(tmp_path / "data/sources.csv", dataset=name, file="gone.csv", sha256="0" * 64)
    normalise(name, tmp_path / "raw", None, True, sources, folder)
    (folder / f".{name}.json.cutlayer-here-1-1-1-0.json").write_text("{")  # a killed writer's
    assert list(damaged(tmp_path)) == []
    file = folder / f"{name}.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    (wrong,) = damaged(tmp_path)
    assert f"{name}.safetensors: is not as it was written" in wrong
    if name == "wine":
        with pytest.raises(InputError, match="is not as it was written"):
            read(folder, name)
    file.write_bytes(content[:-1])
    with pytest.raises(InputError, match=f"{name}.safetensors: cannot be read"):
        read(folder, name)


def test_cells_of_measurements_need_no_arrays(tmp_path):
    normalise("wine", tmp_path / "raw", None, False, SOURCES, tmp_path)
    (tmp_path / "wine.safetensors").unlink()
    scores = tmp_path / "scores.csv"
    scores.write_text("setup,defense,attack,seed,step,metric,value\ntoy,none,norm,0,0,leak_auc,0.5\n")
    exhibit = {"sources": ["scores"], "setups": ["toy"], "inapplicable": [], "along": "step"}
    (row,) = gather([scores], tmp_path, {"toy": "wine"}, exhibit).to_dict("records")
    assert (row["dataset"], row["provenance"], row["features"], row["value"]) == ("wine", "real", 13, 0.5)
    with pytest.raises(FileNotFoundError, match=r"wine\.safetensors"):
        gather([scores], tmp_path, {"toy": "wine"}, exhibit | {"sources": ["data"]})


def test_cells_of_the_configuration_need_no_measurement(tmp_path):
    normalise("wine", tmp_path / "raw", None, False, SOURCES, tmp_path)
    grids = [
        {"setup": "toy", "defense": "adv", "setting": f"weight={w}", "metric": "weight", "value": w} for w in (1, 3)
    ]
    exhibit = {"sources": ["grids"], "grids": grids, "setups": ["toy"], "inapplicable": [], "along": "all"}
    cells = gather([], tmp_path, {"toy": "wine"}, exhibit)
    assert cells["value"].tolist() == [1, 3]
    assert set(cells["seed"]) == {NO_SEED}
