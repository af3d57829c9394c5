"""Files appear whole or not at all, read back equal, and hold no code."""

from __future__ import annotations

import ast
import contextlib
import os
import pickle
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from cutlayer.core import transcript
from cutlayer.core.artifacts import read_arrays, read_json, write_arrays, write_json, write_rows
from cutlayer.core.errors import InputError
from cutlayer.core.files import replacing
from cutlayer.plan import plugins
from launch import notes

finite = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | finite | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
numbers = st.sampled_from([np.float64, np.float32, np.int64, np.int32, np.bool_, np.uint8])
tensors = numbers.flatmap(lambda kind: arrays(kind, array_shapes(min_dims=0, max_dims=3, max_side=4)))


class Payload:
    """What would run if a file were unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def stop(path):
    with replacing(path) as temporary:
        temporary.write_text("half")
        raise KeyboardInterrupt


@pytest.mark.parametrize("before", [None, "old"])
def test_an_interrupted_writer_leaves_what_was_there(tmp_path, before):
    path = tmp_path / "folder" / "file.csv"
    path.parent.mkdir()
    if before:
        path.write_text(before)
    with pytest.raises(KeyboardInterrupt):
        stop(path)
    assert [p.name for p in path.parent.iterdir()] == (["file.csv"] if before else [])
    assert not before or path.read_text() == before


def test_nothing_is_at_the_path_before_the_writer_is_done(tmp_path):
    path = tmp_path / "new" / "file.csv"
    with replacing(path) as temporary:
        temporary.write_text("whole")
        assert not path.exists()
        assert (temporary.parent, temporary.suffix) == (path.parent, ".csv")
    assert path.read_text() == "whole"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("content", [{"a": float("nan")}, {"a": [float("inf")]}, {"a": object()}])
def test_what_json_cannot_say_leaves_nothing(tmp_path, content):
    with pytest.raises((ValueError, TypeError)):
        write_json(tmp_path / "x.json", content)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_number_leaves_nothing(tmp_path):
    with pytest.raises(Exception, match=r"(?i)dtype|object|type"):
        write_arrays(tmp_path / "x.safetensors", {"a": np.array([{"b": 1}], dtype=object)})
    assert list(tmp_path.iterdir()) == []


@given(content=st.dictionaries(st.text().filter(lambda key: key != "sha256"), json_values, max_size=3))
def test_json_reads_back_equal(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "content.json"
    write_json(path, content)
    assert read_json(path) == content


@given(found=st.dictionaries(st.text("abc|_=,.0", min_size=1), tensors, max_size=3), meta=json_values)
def test_arrays_read_back_equal(tmp_path_factory, found, meta):
    path = tmp_path_factory.getbasetemp() / "arrays.safetensors"
    write_arrays(path, found, meta)
    back, said = read_arrays(path)
    assert said == meta
    assert back.keys() == found.keys()
    for name, array in found.items():
        assert (back[name].dtype, back[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(back[name], array)


def test_a_number_reads_back_as_a_number_and_not_as_a_list_of_one(tmp_path):
    write_arrays(tmp_path / "x.safetensors", {"classes": np.array(7)})
    back, _ = read_arrays(tmp_path / "x.safetensors")
    assert back["classes"].shape == ()
    assert int(back["classes"]) == 7


def test_a_view_of_an_array_reads_back_equal(tmp_path):
    array = np.arange(24.0).reshape(4, 6)
    write_arrays(tmp_path / "x.safetensors", {"turned": array.T, "steps": array[::2, ::-3]})
    back, meta = read_arrays(tmp_path / "x.safetensors")
    np.testing.assert_array_equal(back["turned"], array.T)
    np.testing.assert_array_equal(back["steps"], array[::2, ::-3])
    assert meta is None


def test_equal_content_gives_equal_bytes(tmp_path):
    for name in ("one", "two"):
        write_arrays(tmp_path / name, {"b": np.ones(3), "a": np.zeros(2)}, {"z": 1, "y": 2})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("keep", [0, 4, 20, -1])
def test_a_damaged_file_of_arrays_is_named(tmp_path, keep):
    path = tmp_path / "arrays.safetensors"
    write_arrays(path, {"a": np.arange(10.0)})
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InputError, match=rf"^file\..*{path.name}: cannot be read .*; delete it and run again"):
        read_arrays(path)


def flipped(content: bytes, place: int, bit: int) -> bytes:
    return content[:place] + bytes([content[place] ^ (1 << bit)]) + content[place + 1 :]


@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_one_changed_bit_in_arrays_is_found_and_named(tmp_path_factory, place, bit):
    path = tmp_path_factory.getbasetemp() / "flipped.safetensors"
    write_arrays(path, {"scores": np.arange(20.0), "weights": np.ones((2, 3), np.float32)}, {"run": "a"})
    whole = path.read_bytes()
    path.write_bytes(flipped(whole, int(place * len(whole)), bit))
    with pytest.raises(InputError, match=r"^file\..*flipped\.safetensors: .*; delete it and run again"):
        read_arrays(path)


@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_one_changed_bit_in_json_is_found_or_means_the_same(tmp_path_factory, place, bit):
    path, content = tmp_path_factory.getbasetemp() / "flipped.json", {"rows": 178, "provenance": "real", "names": ["a"]}
    write_json(path, content)
    whole = path.read_bytes()
    path.write_bytes(flipped(whole, int(place * len(whole)), bit))
    with contextlib.suppress(InputError):
        assert read_json(path) == content  # a space between two entries, say


@pytest.mark.parametrize("content", [b"", b'{"a": 1', b"\xff\xfe\x00"])
def test_a_damaged_json_file_is_named(tmp_path, content):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"^file\..*{path.name}: is not valid JSON .*; delete it and run again"):
        read_json(path)


def test_no_pickle_is_accepted(tmp_path):
    proof, path = tmp_path / "ran", tmp_path / "x.safetensors"
    path.write_bytes(pickle.dumps(Payload(proof)))
    for read in (read_arrays, read_json):
        with pytest.raises(InputError, match=r"x\.safetensors"):
            read(path)
    assert not proof.exists()
    np.save(tmp_path / "y.npy", np.array([Payload(proof)], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match=r"y\.npy"):
        read_arrays(tmp_path / "y.npy")
    assert not proof.exists()


def test_the_library_imports_nothing_that_unpickles():
    for file in plugins.ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {"pickle", "joblib", "dill", "cloudpickle", "shelve"} & {n.split(".")[0] for n in names}, file
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            assert called not in {"torch.load", "np.load", "pd.read_pickle"}, file


def test_rows_read_back_equal_to_the_last_digit(tmp_path):
    rows = [{"who": "a", "value": 0.1 + 0.2, "why": "x, y"}, {"who": "b", "value": None, "more": 1e-300}]
    write_rows(tmp_path / "rows.csv", rows)
    back = pd.read_csv(tmp_path / "rows.csv")
    assert list(back.columns) == ["who", "value", "why", "more"]
    assert back["value"][0] == 0.1 + 0.2
    assert back["why"][0] == "x, y"
    assert back["more"][1] == 1e-300
    assert back[["value", "why"]].iloc[1].isna().all()


@pytest.mark.parametrize("labels", [[""], ["budget=0.5", "budget=1.0,rest=0.1"]])
def test_a_transcript_reads_back_setting_by_setting(tmp_path, labels):
    settings = {label: {"scores": np.full((2, 2), float(i))} for i, label in enumerate(labels)}
    transcript.save(tmp_path / "t", settings, {"features": np.arange(4.0)})
    back = transcript.load(tmp_path / "t")
    assert list(back) == list(settings)
    for name, own in settings.items():
        assert back[name].keys() == {"scores", "features"}
        np.testing.assert_array_equal(back[name]["scores"], own["scores"])
        np.testing.assert_array_equal(back[name]["features"], np.arange(4.0))


KILLED = """
import os, signal, sys
from cutlayer.core.files import replacing
with replacing(sys.argv[1]) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def left_by_a_killed_writer(path: Path) -> Path:
    """The temporary file of a process that was killed while it wrote a file."""
    before = set(path.parent.iterdir())
    subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    (left,) = set(path.parent.iterdir()) - before
    return left


def test_what_a_killed_writer_left_is_removed(tmp_path):
    left = left_by_a_killed_writer(tmp_path / "file.csv")
    assert left.read_text() == "half"
    with replacing(tmp_path / "file.csv"):
        assert not left.exists()


def test_a_process_that_has_a_killed_writer_s_number_is_not_the_writer(tmp_path):
    left = left_by_a_killed_writer(tmp_path / "file.csv")
    *start, _, began, rest = left.name.split("-")
    reused = left.rename(left.with_name("-".join([*start, str(os.getpid()), began, rest])))
    with replacing(tmp_path / "file.csv"):
        assert not reused.exists() or not began  # a system that does not say when a process began


@pytest.mark.parametrize(
    "name",
    [
        ".file.csv.Xy12Ab",  # rsync's
        ".file.csv.swp",  # vim's
        ".file.csv.k2j4h5g6.csv",
        ".file.csv.cutlayer-elsewhere-1-1-1-00000000.csv",  # of a machine that shares the folder
        ".file.csv.more.cutlayer",
    ],
)
def test_what_others_left_beside_a_file_stays(tmp_path, name):
    (tmp_path / name).write_text("theirs")
    with replacing(tmp_path / "file.csv") as temporary:
        temporary.write_text("ours")
    assert (tmp_path / name).read_text() == "theirs"


def test_two_writers_of_one_file_do_not_disturb_each_other(tmp_path):
    path = tmp_path / "file.csv"
    with replacing(path) as first:
        first.write_text("first")
        with replacing(path) as second:
            second.write_text("second")
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("mask", "mode"), [(0o077, 0o600), (0o002, 0o664), (0o022, 0o644)])
def test_a_file_has_the_mode_that_its_user_asks_for(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        write_json(tmp_path / "x.json", {"a": 1})
        write_arrays(tmp_path / "x.safetensors", {"a": np.ones(3)})  # its library makes files of mode 600
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {mode}


def test_what_a_killed_writer_left_is_no_note_of_a_failure(tmp_path):
    left_by_a_killed_writer(tmp_path / "run.json")
    assert notes.found(tmp_path) == []
