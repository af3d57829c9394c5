"""Arrays that grow by rows read back as if they had been written at once."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutlayer.core.artifacts import check_arrays, map_arrays, read_arrays, write_arrays
from cutlayer.core.errors import InputError
from cutlayer.data.datasets._growing import growing

kinds = st.sampled_from([np.float64, np.int32, np.uint8, np.int64])


@given(
    cuts=st.lists(st.integers(0, 9), max_size=4),
    first=kinds,
    second=kinds,
    sides=st.lists(st.integers(1, 3), max_size=3),
)
def test_rows_in_any_parts_read_back_as_one(tmp_path_factory, cuts, first, second, sides):
    folder = tmp_path_factory.getbasetemp() / "growing"
    draw = np.random.default_rng(0)
    whole = {
        "features": draw.integers(0, 200, (9, *sides)).astype(first),
        "labels": draw.integers(0, 200, 9).astype(second),
        "attribute_day": np.arange(9, dtype=np.uint8),
    }
    places = [0, *sorted(cuts), 9]
    with growing(folder / "grown") as append:
        for start, end in itertools.pairwise(places):
            append({name: array[start:end] for name, array in whole.items()})
    check_arrays(folder / "grown")
    write_arrays(folder / "written", whole)
    for read in (read_arrays, map_arrays):
        grown, written = read(folder / "grown")[0], read(folder / "written")[0]
        assert grown.keys() == written.keys()
        for name, array in written.items():
            assert (grown[name].dtype, grown[name].shape) == (array.dtype, array.shape)
            np.testing.assert_array_equal(grown[name], array)


def stopped(path, rows):
    with growing(path) as append:
        append(rows)
        raise KeyboardInterrupt


def test_a_stopped_writer_leaves_what_was_there(tmp_path):
    (tmp_path / "file").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        stopped(tmp_path / "file", {"a": np.ones((2, 3)), "b": np.ones(2)})
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "old"


def appended(path, *parts):
    with growing(path) as append:
        for part in parts:
            append({"a": part})


@pytest.mark.parametrize("other", [np.ones((1, 4)), np.ones((1, 3), np.float32)])
def test_rows_of_another_kind_are_refused(tmp_path, other):
    with pytest.raises(ValueError, match="after rows of"):
        appended(tmp_path / "file", np.ones((2, 3)), other)
    assert list(tmp_path.iterdir()) == []


def test_mapped_arrays_are_parts_of_the_file(tmp_path):
    with growing(tmp_path / "file") as append:
        append({"a": np.arange(6, dtype=np.int32).reshape(2, 3), "b": np.zeros(2, np.uint8)})
    mapped, meta = map_arrays(tmp_path / "file")
    assert meta is None
    assert not mapped["a"].flags.writeable
    content = bytearray((tmp_path / "file").read_bytes())
    content[-2 - 24] = 77  # the first number, which stays mapped
    with (tmp_path / "file").open("r+b") as file:
        file.write(content)
    assert mapped["a"][0, 0] == 77
    with pytest.raises(InputError, match="is not as it was written"):
        check_arrays(tmp_path / "file")


def test_a_file_cut_short_is_not_mapped(tmp_path):
    with growing(tmp_path / "file") as append:
        append({"a": np.arange(6, dtype=np.int32)})
    (tmp_path / "file").write_bytes((tmp_path / "file").read_bytes()[:-1])
    with pytest.raises(InputError, match="file: cannot be read"):
        map_arrays(tmp_path / "file")
