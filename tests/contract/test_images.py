"""Images: what the original formats say is what is read, and damage is named."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from pathlib import Path

import numpy as np
import pytest

from cutlayer.core.errors import InputError
from cutlayer.data.acquire import Acquired
from cutlayer.data.datasets import cifar10
from cutlayer.data.datasets._idx import images_and_labels
from cutlayer.data.normalised import _loaded, normalise, read
from cutlayer.data.standins.images import stand_in
from cutlayer.plan import plugins

SOURCES = Path(__file__).parents[2] / "data/sources.csv"
MIRROR = os.environ.get("CUTLAYER_MIRROR", "")
IMAGES = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)


def idx(values: np.ndarray, kind: int = 8) -> bytes:
    """An array of bytes in the idx format."""
    return bytes([0, 0, kind, values.ndim]) + np.array(values.shape, ">u4").tobytes() + values.tobytes()


def idx_files(folder: Path, **contents: bytes) -> dict[str, Path]:
    """Two training and two test images as four gzipped files; `contents` replaces some."""
    parts = {
        "train-images-idx3-ubyte": idx(IMAGES),
        "train-labels-idx1-ubyte": idx(np.array([3, 1], np.uint8)),
        "t10k-images-idx3-ubyte": idx(IMAGES + 100),
        "t10k-labels-idx1-ubyte": idx(np.array([9, 0], np.uint8)),
    }
    files = {f"{name}.gz": folder / name for name in parts}
    for name, content in parts.items():
        (folder / name).write_bytes(gzip.compress(contents.get(name.split("-ubyte")[0].replace("-", "_"), content)))
    return files


def animals(labels: np.ndarray) -> np.ndarray:
    """Which images of cifar10 show no vehicle."""
    return ~np.isin(np.array(cifar10.Cifar10.class_names)[labels], ["airplane", "automobile", "ship", "truck"])


def failure(name: str, files: dict[str, Path]) -> str:
    """What is said when these files are loaded."""
    found = Acquired(name, "full", "real", "", "raw", "", files, {})
    with pytest.raises(InputError) as caught:
        list(_loaded(plugins.create("dataset", name), found))
    return str(caught.value)


def test_the_training_part_comes_before_the_test_part(tmp_path):
    images, labels = images_and_labels(idx_files(tmp_path))
    assert images.shape == (4, 1, 3, 4)
    np.testing.assert_array_equal(images[:, 0], np.concatenate([IMAGES, IMAGES + 100]))
    assert labels.tolist() == [3, 1, 9, 0]


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (idx(IMAGES)[:-1], "holds 23 values, its head says 24"),
        (idx(IMAGES) + b"x", "holds 25 values, its head says 24"),
        (idx(IMAGES, kind=9), "has not the head of an idx file of 3 dimensions"),
        (idx(IMAGES[0]), "has not the head of an idx file of 3 dimensions"),
        (b"", "has not the head of an idx file of 3 dimensions"),
    ],
    ids=["shorter", "longer", "another type", "another dimension", "empty"],
)
def test_a_damaged_idx_file_is_named(tmp_path, content, wrong):
    said = failure("mnist", idx_files(tmp_path, train_images_idx3=content))
    assert said.startswith("dataset.mnist: cannot be read (")
    assert wrong in said


def test_a_truncated_gzip_file_is_named(tmp_path):
    files = idx_files(tmp_path)
    path = files["t10k-images-idx3-ubyte.gz"]
    for content in (path.read_bytes()[:-9], b"not gzipped"):
        path.write_bytes(content)
        assert failure("fashion_mnist", files).startswith("dataset.fashion_mnist: cannot be read (")


def archive(folder: Path, batches: dict[str, bytes]) -> dict[str, Path]:
    """The original's archive, with these batches."""
    with tarfile.open(folder / "archive", "w:gz") as file:
        for name, content in batches.items():
            entry = tarfile.TarInfo(f"cifar-10-batches-bin/{name}.bin")
            entry.size = len(content)
            file.addfile(entry, io.BytesIO(content))
    return {"cifar-10-binary.tar.gz": folder / "archive"}


@pytest.fixture
def batches(monkeypatch) -> dict[str, bytes]:
    """Six batches of two images, in an order that is not the dataset's: a class, then red, green, blue."""
    monkeypatch.setattr(cifar10, "IMAGES", 2)
    colors = b"".join(bytes([color]) * 1024 for color in (10, 20, 30))
    names = ["test_batch", *(f"data_batch_{i}" for i in (3, 1, 5, 2, 4))]
    return {name: b"".join(bytes([label]) + colors for label in (int(name[-1], 36) % 10, 7)) for name in names}


def test_cifars_archive_is_read_in_order_and_color_by_color(tmp_path, batches):
    parts = list(plugins.create("dataset", "cifar10").parts(archive(tmp_path, batches)))
    labels = np.concatenate([part.labels for part in parts])
    assert labels.tolist() == [1, 7, 2, 7, 3, 7, 4, 7, 5, 7, int("h", 36) % 10, 7]
    for part in parts:
        np.testing.assert_array_equal(part.features, np.broadcast_to([[[[10]], [[20]], [[30]]]], (2, 3, 32, 32)))
        np.testing.assert_array_equal(part.attributes["animal"], animals(part.labels))


@pytest.mark.parametrize("damage", ["shorter", "missing", "cut", "no archive"])
def test_a_damaged_archive_of_cifar_is_named(tmp_path, batches, damage):
    if damage == "shorter":
        batches["data_batch_2"] = batches["data_batch_2"][:-1]
    if damage == "missing":
        del batches["data_batch_2"]
    files = archive(tmp_path, batches)
    path = files["cifar-10-binary.tar.gz"]
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-40])
    if damage == "no archive":
        path.write_bytes(b"<html>")
    assert failure("cifar10", files).startswith("dataset.cifar10: cannot be read (")


@pytest.mark.mirror
def test_cifars_sample_has_its_colors_first(tmp_path):
    normalise("cifar10", tmp_path / "raw", MIRROR, False, SOURCES, tmp_path / "n")
    table, _ = read(tmp_path / "n", "cifar10")
    with np.load(tmp_path / "raw/cifar10/cifar10_subset_12000_2000.npz") as arrays:
        for part, rows in (("train", slice(12_000)), ("test", slice(12_000, None))):
            np.testing.assert_array_equal(np.moveaxis(table.features[rows], 1, 3), arrays[f"x_{part}"])
            np.testing.assert_array_equal(table.labels[rows], arrays[f"y_{part}"])
    np.testing.assert_array_equal(table.attributes["animal"], animals(table.labels))


def test_six_tenths_of_cifars_stand_in_are_animals():
    dataset = plugins.create("dataset", "cifar10").of_version("stand-in")
    vars(dataset).update(rows=100)
    table = stand_in(dataset)
    np.testing.assert_array_equal(table.attributes["animal"], animals(table.labels))
    assert table.attributes["animal"].mean() == 0.6
