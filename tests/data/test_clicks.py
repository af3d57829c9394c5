"""Logs of clicks: each field means what the original says, damage is named, and memory does not grow with the rows."""

from __future__ import annotations

import csv
import functools
import gzip
import itertools
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutlayer.core.errors import InputError
from cutlayer.data.datasets import _fields
from cutlayer.data.datasets.avazu import Avazu
from cutlayer.data.datasets.base import MISSING
from cutlayer.data.datasets.criteo import HASHED
from cutlayer.data.normalised import normalise, read
from cutlayer.data.sources import COLUMNS
from cutlayer.plan import plugins

SOURCES = Path(__file__).parents[2] / "data/sources.csv"
MIRROR = os.environ.get("CUTLAYER_MIRROR", "")
CODES = [f"{0x10203040 + 7 * i:08x}" for i in range(26)]
CRITEO = ["1\t\t-2\t0\t65535\t1618112\t7" + "\t" * 8 + "\t".join(CODES), "0" + "\t3" * 13 + "\t" * 25 + "\tffffffff"]
HASHES = [f"h{0xF0003 + 7 * i:05x}" for i in range(26)]
IN_HASHES = [CRITEO[0].replace("\t".join(CODES), "\t".join(HASHES)), CRITEO[1].replace("ffffffff", "h00000")]
HEADER = (
    "id,click,hour,C1,banner_pos,site_id,site_domain,site_category,app_id,app_domain,app_category,device_id,device_ip,"
    "device_model,device_type,device_conn_type,C14,C15,C16,C17,C18,C19,C20,C21"
)
AVAZU = [
    HEADER,
    "1000009418151094273,0,14102100,1005,0,1fbe01fe,f3845767,28905ebd,ecad2386,7801e8d9,07d7df22,a99f214a,ddd2926e,"
    "44956a24,1,2,15706,320,50,1722,0,35,-1,79",
    "1.4e19,1,14103023,1005,,1fbe01fe,,28905ebd,ecad2386,7801e8d9,07d7df22,a99f214a,ddd2926e,44956a24,1,2,1,1,1,1,0,1,-1,9",
]


def fnv(text: str) -> int:
    """The hash of Fowler, Noll and Vo, variant 1a, of 32 bits, of which 31 are kept."""
    step = functools.reduce(lambda value, byte: (value ^ byte) * 0x01000193 % 2**32, text.encode(), 0x811C9DC5)
    return step % 2**31


def loaded(name: str, lines: list[str], folder: Path, end: str = "\n"):
    """The tables of a file of these lines, joined: features, labels, days."""
    (folder / "file").write_text("".join(line + end for line in lines), newline="")
    parts = list(plugins.create("dataset", name).parts({"file": folder / "file"}))
    days = [part.attributes.get("day", part.labels) for part in parts]
    return tuple(map(np.concatenate, ([p.features for p in parts], [p.labels for p in parts], days)))


def test_criteos_counts_and_codes_are_the_files(tmp_path):
    features, labels, _ = loaded("criteo", CRITEO, tmp_path)
    assert features.dtype == np.int32
    assert labels.tolist() == [1, 0]
    assert features[0, :13].tolist() == [MISSING, -2, 0, 65535, 1618112, 7] + [MISSING] * 7
    assert features[0, 13:].tolist() == [int(code, 16) for code in CODES]
    assert features[1].tolist() == [3] * 13 + [0] * 25 + [2**31 - 1]


def hashed(lines: list[str], folder: Path) -> np.ndarray:
    """The features of a file of these lines that is named as the one with hashed categories."""
    (folder / HASHED).write_text("".join(f"{line}\n" for line in lines))
    (part,) = plugins.create("dataset", "criteo").parts({HASHED: folder / HASHED})
    return part.features


def test_hashed_categories_have_a_code_for_each_hash_and_one_for_a_missing_one(tmp_path):
    features = hashed(IN_HASHES, tmp_path)
    assert features[0, :6].tolist() == [MISSING, -2, 0, 65535, 1618112, 7]
    assert features[0, 13:].tolist() == [1 + int(code[1:], 16) for code in HASHES]
    assert features[1, 13:].tolist() == [0] * 25 + [1]


def test_hashed_categories_and_clear_ones_are_never_mixed(tmp_path):
    with pytest.raises(ValueError, match=r"^file has hashed categories; expected clear ones: the two are never mixed"):
        loaded("criteo", IN_HASHES, tmp_path)
    with pytest.raises(ValueError, match=r"hashed.tsv has clear categories; expected hashed ones"):
        hashed(CRITEO, tmp_path)
    with pytest.raises(ValueError, match=r"^file has hashed categories; expected clear ones"):
        loaded("criteo", [CRITEO[0], IN_HASHES[0]], tmp_path)
    with pytest.raises(ValueError, match=r"'10203040' is not a number of 5 hexadecimal digits after 'h'"):
        hashed([IN_HASHES[0], CRITEO[0]], tmp_path)
    for wrong in ("h1234", "h123456", "g12345", "h1234g"):
        with pytest.raises(ValueError, match=rf"'{wrong}' is not a number of 5 hexadecimal digits after 'h'"):
            hashed([IN_HASHES[0].replace(HASHES[3], wrong)], tmp_path)


def test_avazus_hour_is_a_day_and_an_hour_and_its_categories_are_hashed(tmp_path):
    features, labels, days = loaded("avazu", AVAZU, tmp_path)
    fields = [line.split(",") for line in AVAZU[1:]]
    assert (labels.tolist(), days.tolist()) == ([0, 1], [0, 9])
    assert features[:, 0].tolist() == [0, 23]
    assert features[:, 1:].tolist() == [[fnv(text) for text in row[3:]] for row in fields]
    assert features[1, 2] == features[1, 4] == fnv("")  # missing


def test_known_values_of_the_hash():
    """From the tables of its authors."""
    assert [fnv(""), fnv("a"), fnv("foobar")] == [value % 2**31 for value in (0x811C9DC5, 0xE40C292C, 0xBF9CF968)]


fields = st.text(st.characters(codec="ascii", exclude_characters="\t\n\r"), max_size=9)


@given(rows=st.lists(st.tuples(fields, fields, st.integers(-(2**31) + 1, 2**31 - 1)), min_size=1, max_size=9))
def test_fields_are_read_as_python_reads_them(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "fields"
    path.write_text("".join(f"{a}\t{b}\t{n}\n" for a, b, n in rows), newline="")
    (found,) = _fields.blocks(path, 3, "\t")
    assert found[:2].hashes().tolist() == [[fnv(a), fnv(b)] for a, b, _ in rows]
    assert found[2:].numbers(MISSING)[:, 0].tolist() == [n for _, _, n in rows]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("block", [400, 1000, 1 << 20])
def test_neither_blocks_nor_ends_of_lines_matter(tmp_path, monkeypatch, block, end):
    expected = loaded("criteo", CRITEO * 20, tmp_path)
    monkeypatch.setattr(_fields, "BLOCK", block)
    for found, wanted in zip(loaded("criteo", CRITEO * 20, tmp_path, end), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    (tmp_path / "file").write_bytes((tmp_path / "file").read_bytes().removesuffix(end.encode()))
    parts = list(plugins.create("dataset", "criteo").parts({"file": tmp_path / "file"}))
    np.testing.assert_array_equal(np.concatenate([part.features for part in parts]), expected[0])


def write_raw(folder: Path, name: str, file: str, content: bytes, **fields: str) -> tuple:
    """A raw file and its row in the sources; what `normalise` takes for them."""
    (folder / "raw" / name).mkdir(parents=True)
    (folder / "raw" / name / file).write_bytes(content)
    row = dict.fromkeys(COLUMNS, "") | {"dataset": name, "version": "full", "file": file, "provenance": "real"} | fields
    with (folder / "sources.csv").open("w", newline="") as sources:
        writer = csv.DictWriter(sources, COLUMNS)
        writer.writeheader()
        writer.writerow(row)
    return name, folder / "raw", None, False, folder / "sources.csv", folder / "n"


def damaged(line: str, place: int, value: str | None, separator: str = "\t") -> str:
    """The line with another field, or without it."""
    parts = line.split(separator)
    parts[place : place + 1] = [] if value is None else [value]
    return separator.join(parts)


DAMAGE = {
    "a field is missing": ("criteo", [CRITEO[0], damaged(CRITEO[1], 5, None)], "line 2 has 39 fields, not 40"),
    "a field too many": ("criteo", [CRITEO[0] + "\t", CRITEO[1]], "line 1 has 41 fields, not 40"),
    "an empty line": ("criteo", [*CRITEO, ""], "line 3 has 1 fields, not 40"),
    "no number": ("criteo", [damaged(CRITEO[0], 3, "1.5")], "'1.5' is not a whole number"),
    "a lone minus": ("criteo", [damaged(CRITEO[0], 3, "-")], "'-' is not a whole number"),
    "a number too large": ("criteo", [damaged(CRITEO[0], 3, "2147483648")], "'2147483648' is larger than 32 bits"),
    "a code too short": ("criteo", [damaged(CRITEO[0], 20, "68fd1e6")], "'68fd1e6' is not a number of 8 hexadecimal"),
    "a code that is none": ("criteo", [damaged(CRITEO[0], 20, "68fd1e6g")], "'68fd1e6g' is not a number of 8"),
    "hashed in place of clear": ("criteo", [*CRITEO, IN_HASHES[0]], "file has hashed categories; expected clear ones"),
    "a label that is none": ("criteo", [damaged(CRITEO[0], 0, "2")], "label has codes outside its levels"),
    "no label": ("criteo", [damaged(CRITEO[0], 0, "")], "label has codes outside its levels"),
    "cut off at a line's end": ("criteo", CRITEO, "has 2 rows; expected 45,840,617"),
    "nothing": ("criteo", [], "has 0 rows; expected 45,840,617"),
    "another header": ("avazu", ["id,click", *AVAZU[1:]], "its first line is 'id,click', not 'id,click,hour,"),
    "no header": ("avazu", AVAZU[1:], "its first line is '1000009418151094273,0,"),
    "another month": ("avazu", [AVAZU[0], damaged(AVAZU[1], 2, "14112100", ",")], "day has codes outside its levels"),
    "a field less": ("avazu", [*AVAZU, damaged(AVAZU[1], 9, None, ",")], "line 4 has 23 fields, not 24"),
}  # fmt: skip


@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_file_is_named_and_leaves_no_result(tmp_path, case):
    name, lines, wrong = DAMAGE[case]
    given = write_raw(tmp_path, name, "file", "".join(f"{line}\n" for line in lines).encode())
    with pytest.raises(InputError, match=rf"^dataset\.{name}: ") as caught:
        normalise(*given)
    assert wrong in str(caught.value)
    assert list(tmp_path.glob("n/*")) == []


def test_a_file_without_lines_is_not_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(_fields, "BLOCK", 1000)
    with pytest.raises(InputError, match="has a line of more than 1,000 bytes"):
        normalise(*write_raw(tmp_path, "criteo", "file", b"0" * 10_000))


@pytest.mark.mirror
@pytest.mark.parametrize(
    ("name", "path", "rows", "label"),
    [("criteo", "criteo_dac80000_hashed.tsv", 80000, 0), ("avazu", "avazu_train_head8999.csv", 8999, 1)],
)
def test_a_real_sample_is_whole(tmp_path, name, path, rows, label):
    normalise(name, tmp_path / "raw", MIRROR, False, SOURCES, tmp_path / "n")
    table, meta = read(tmp_path / "n", name)
    with gzip.open(Path(MIRROR, name, f"{path}.gz"), "rt") as file:
        lines = [line.rstrip("\n").split("\t" if name == "criteo" else ",") for line in file]
    labels = [int(fields[label]) for fields in lines if fields[label] != "click"]
    assert (meta["provenance"], meta["rows"], len(labels)) == ("sample", rows, rows)
    np.testing.assert_array_equal(table.labels, labels)
    last = {"criteo": lambda text: 1 + int(text[1:], 16), "avazu": fnv}[name]
    assert table.features[:, -1].tolist() == [last(fields[-1]) if fields[-1] else 0 for fields in lines[-rows:]]


def rows_of(file: str) -> list[list[str]]:
    """The first 8,000 lines of a file of Criteo's in the mirror."""
    with gzip.open(Path(MIRROR, "criteo", f"{file}.gz"), "rt") as lines:
        return [line.rstrip("\n").split("\t") for line in itertools.islice(lines, 8_000)]


def but_for_i5(row: list[str]) -> tuple:
    """Label, exact integers, and which categories are there."""
    return (*row[:5], *row[6:14], *(bool(field) for field in row[14:]))


@pytest.mark.mirror
def test_the_hashed_rows_begin_with_the_clear_ones_in_another_order_and_i5_is_wrong_where_it_is_marked():
    clear, rows = (rows_of(file) for file in ("criteo_kaggle_train_head8000.txt", HASHED))
    times = Counter(map(but_for_i5, clear))
    assert times == Counter(map(but_for_i5, rows))
    with np.load(Path(MIRROR, "criteo/criteo_dac80000_int_ambiguous.npz")) as arrays:
        marked = arrays["ambiguous"][:, 4] > 0
    by_key = {but_for_i5(row): row for row in clear}
    pairs = [(i, by_key[key], row) for i, row in enumerate(rows) if times[key := but_for_i5(row)] == 1]
    assert len(pairs) > 7_900
    assert all(one[5] == other[5] or marked[i] for i, one, other in pairs)
    for column in range(14, 40):  # a value has one hash
        known = {(one[column], other[column]) for _, one, other in pairs}
        assert len(known) == len({value for value, _ in known})


@pytest.mark.mirror
def test_the_uncertain_integers_are_as_many_as_the_sources_say(tmp_path):
    normalise("criteo", tmp_path / "raw", MIRROR, False, SOURCES, tmp_path / "n")
    table, meta = read(tmp_path / "n", "criteo")
    with np.load(Path(MIRROR, "criteo/criteo_dac80000_int_ambiguous.npz")) as arrays:
        marked = arrays["ambiguous"] > 0
    integers = (table.features[:, :13] != MISSING).sum()
    said = f"{marked.sum():,} of {integers:,} integers are uncertain, {marked[:, 4].sum():,} of them in I5"
    assert said in meta["note"]


def days_file() -> bytes:
    """Two rows of each of ten days, the first a click."""
    rest = AVAZU[1].split(",", 3)[3]
    lines = [f"1,{click},1410{21 + day}07,{rest}" for day in range(10) for click in (1, 0)]
    return "".join(f"{line}\n" for line in [HEADER, *lines]).encode()


def test_avazus_file_serves_avazu_and_its_days(tmp_path, monkeypatch):
    given = write_raw(tmp_path, "avazu", "train.csv", days_file(), serves="avazu_days")
    for name in ("avazu", "avazu_days"):
        with pytest.raises(InputError, match=rf"dataset.{name}: has 20 rows; expected 40,428,967"):
            normalise(name, *given[1:])
    monkeypatch.setattr(Avazu, "rows", 20)
    monkeypatch.setattr(Avazu, "class_rates", (0.5, 0.5))
    for name in ("avazu", "avazu_days"):
        normalise(name, *given[1:])
        table, meta = read(tmp_path / "n", name)
        assert (meta["name"], meta["version"], meta["where"]) == (name, "full", "raw")
        assert table.attributes["day"].tolist() == [day for day in range(10) for _ in (0, 1)]
    assert [path.name for path in (tmp_path / "raw").iterdir()] == ["avazu"]


STREAMED = """
import sys
from cutlayer.data.normalised import normalise
from cutlayer.data.datasets.criteo import Criteo
import numpy, safetensors.numpy  # what is loaded late

def peak():
    # of this program alone: ru_maxrss starts at the peak of the process that started it
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) // 1024

Criteo.rows, Criteo.class_rates = int(sys.argv[2]), (0.5, 0.5)
before = peak()
normalise("criteo", sys.argv[1] + "/raw", None, False, sys.argv[1] + "/sources.csv", sys.argv[1] + "/n")
print(peak() - before)
"""


def megabytes_for(rows: int, folder: Path) -> int:
    """By how much the peak of memory grows while a file of so many rows is normalised."""
    content = "".join(f"{line}\n" for line in CRITEO).encode() * (rows // len(CRITEO))
    write_raw(folder, "criteo", "train.txt", content)
    done = subprocess.run(
        [sys.executable, "-c", STREAMED, str(folder), str(rows)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
def test_memory_does_not_grow_with_the_rows(tmp_path):
    small, large = (megabytes_for(rows, tmp_path / str(rows)) for rows in (50_000, 200_000))
    assert (tmp_path / "200000/n/criteo.safetensors").stat().st_size > 31_000_000
    assert small < 100
    assert large < small + 10
