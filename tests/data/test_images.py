"""Images: what the original formats say is what is read, and damage is named."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cutlayer.core.errors import InputError
from cutlayer.data.acquire import Acquired
from cutlayer.data.datasets import cifar10, mnist
from cutlayer.data.datasets._idx import images_and_labels
from cutlayer.data.normalised import _loaded
from cutlayer.data.sources import read_sources
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


def test_the_sample_of_digits_is_a_line_an_image_with_its_label_last(tmp_path):
    lines = [[(label + place) % 256 for place in range(784)] + [label] for label in (0, 7)]
    path = tmp_path / mnist.SAMPLE
    path.write_bytes(gzip.compress("".join(f"{','.join(map(str, line))}\n" for line in lines).encode()))
    dataset = plugins.create("dataset", "mnist")
    table = dataset.load({mnist.SAMPLE: path})
    assert table.labels.tolist() == [0, 7]
    assert table.features[:, 0, 0, :3].tolist() == [[0, 1, 2], [7, 8, 9]]
    assert table.features[1, 0, 27, 27] == (7 + 783) % 256
    path.write_bytes(gzip.compress(b"256" + b",0" * 784))
    assert failure("mnist", {mnist.SAMPLE: path}).startswith("dataset.mnist: cannot be read (")


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


@pytest.fixture
def strips(monkeypatch) -> dict[str, np.ndarray]:
    """The arrays of three strips of two images, the last of them the test part."""
    images = np.random.default_rng(0).integers(0, 256, (3, 2, 32, 32, 3)).astype(np.uint8)
    monkeypatch.setattr(cifar10, "IN_STRIP", 2)
    monkeypatch.setattr(cifar10, "PARTS", {"train": range(2), "test": range(2, 3)})
    sums = [hashlib.sha256(part.tobytes()).hexdigest() for part in (images[:2], images[2:])]
    monkeypatch.setattr(cifar10, "PIXELS", dict(zip(("train", "test"), sums, strict=True)))
    return packed([webp(strip) for strip in images]) | {"images": images}


def webp(strip: np.ndarray, kind: str = "webp") -> bytes:
    """Images (n, height, width, 3) one below the other, without loss."""
    out = io.BytesIO()
    Image.fromarray(strip.reshape(-1, *strip.shape[2:])).save(out, kind, lossless=True)
    return out.getvalue()


def packed(contents: list[bytes]) -> dict[str, np.ndarray]:
    """The arrays of these strips, and labels from 0 on."""
    ends = np.cumsum([0, *map(len, contents)])
    joined = np.frombuffer(b"".join(contents), np.uint8)
    return {"webp": joined, "offset": ends, "label": np.arange(2 * len(contents), dtype=np.uint8)}


def strips_file(folder: Path, arrays: dict[str, np.ndarray]) -> dict[str, Path]:
    np.savez(folder / cifar10.STRIPS, **arrays)
    return {cifar10.STRIPS: folder / cifar10.STRIPS}


def test_cifars_strips_are_read_in_order_with_the_colors_first(tmp_path, strips):
    parts = list(plugins.create("dataset", "cifar10").parts(strips_file(tmp_path, strips)))
    found = np.concatenate([part.features for part in parts])
    np.testing.assert_array_equal(found, strips["images"].reshape(6, 32, 32, 3).transpose(0, 3, 1, 2))
    assert np.concatenate([part.labels for part in parts]).tolist() == [0, 1, 2, 3, 4, 5]
    for part in parts:
        np.testing.assert_array_equal(part.attributes["animal"], animals(part.labels))


def broken_strips(strips: dict[str, np.ndarray]) -> dict[str, tuple[dict[str, np.ndarray], str]]:
    """Kinds of damage to the second strip or to the arrays, and what is said of each."""
    first, second, third = map(webp, strips["images"])
    named = "cifar10_full_webp.npz: strip 1"
    png, other, large = webp(strips["images"][1], "png"), strips["images"][1] ^ 1, np.zeros((3, 32, 32, 3), np.uint8)
    return {
        "cut": (packed([first, second[:-50], third]), f"{named} is truncated, or no WEBP"),
        "another format": (packed([first, png, third]), f"{named} is truncated, or no WEBP"),
        "no image": (packed([first, b"<html>", third]), f"{named} is truncated, or no WEBP"),
        "an image more": (packed([first, webp(large), third]), f"{named} has (32, 96) pixels; expected (32, 64)"),
        "another pixel": (packed([first, webp(other), third]), "npz, train part, decodes to pixels with the sha256 "),
        "a strip less": (packed([first, second]), "cifar10_full_webp.npz is not 3 strips of 2 images and their labels"),
        "bytes less": (strips | {"webp": strips["webp"][:-9]}, "cifar10_full_webp.npz is not 3 strips of 2 images"),
        "a label less": (strips | {"label": strips["label"][1:]}, "cifar10_full_webp.npz is not 3 strips of 2 images"),
        "no labels": ({k: v for k, v in strips.items() if k != "label"}, "cifar10_full_webp.npz of the version full"),
    }


KINDS = ["cut", "another format", "no image", "an image more", "another pixel", "a strip less", "bytes less"]


@pytest.mark.parametrize("kind", [*KINDS, "a label less", "no labels"])
def test_damaged_strips_are_named(tmp_path, strips, kind):
    arrays, wrong = broken_strips(strips)[kind]
    said = failure("cifar10", strips_file(tmp_path, arrays))
    assert said.startswith("dataset.cifar10: cannot be read (")
    assert wrong in said


def test_a_file_of_strips_cut_short_is_named(tmp_path, strips):
    files = strips_file(tmp_path, strips)
    path = files[cifar10.STRIPS]
    path.write_bytes(path.read_bytes()[:-100])
    assert "expected cifar10_full_webp.npz of the version full" in failure("cifar10", files)


@pytest.mark.mirror
def test_cifars_sample_has_its_colors_first_and_is_part_of_the_strips(tmp_path):
    dataset, path = plugins.create("dataset", "cifar10"), Path(MIRROR, "cifar10/cifar10_subset_12000_2000.npz")
    strips = dataset.parts({cifar10.STRIPS: path.with_name(cifar10.STRIPS)})
    whole = {image.tobytes() for part in strips for image in part.features}
    with np.load(path) as arrays:
        for table, part in zip(dataset.parts({path.name: path}), ("train", "test"), strict=True):
            np.testing.assert_array_equal(np.moveaxis(table.features, 1, 3), arrays[f"x_{part}"])
            np.testing.assert_array_equal(table.labels, arrays[f"y_{part}"])
            np.testing.assert_array_equal(table.attributes["animal"], animals(table.labels))
            assert {image.tobytes() for image in table.features} <= whole


@pytest.mark.mirror
def test_all_of_cifar_is_decoded_in_ten_seconds_of_a_core():
    start = time.process_time()
    parts = plugins.create("dataset", "cifar10").parts({cifar10.STRIPS: Path(MIRROR, "cifar10", cifar10.STRIPS)})
    assert sum(len(part.labels) for part in parts) == 60_000
    assert time.process_time() - start < 10


PEAK = """
import sys
from cutlayer.data.normalised import normalise
name, folder, mirror, sources = sys.argv[1:]
normalise(name, f"{folder}/raw", mirror, False, sources, f"{folder}/n")
# of this program alone: ru_maxrss starts at the peak of the process that started it
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


@pytest.mark.mirror
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("name", ["celeba", "cifar10", "fashion_mnist"])
def test_images_are_normalised_in_less_memory_than_a_job_may_take(tmp_path, name):
    arguments = [sys.executable, "-c", PEAK, name, str(tmp_path), MIRROR, str(SOURCES)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 1_500_000  # kB


@pytest.mark.mirror
def test_the_copies_are_as_many_as_the_sources_say():
    with np.load(Path(MIRROR, "cifar10", cifar10.STRIPS)) as arrays:
        copies = arrays["label"][arrays["source"] == 3]
    count = {name: int((copies == label).sum()) for label, name in enumerate(cifar10.Cifar10.class_names)}
    assert {name: n for name, n in count.items() if n} == {"ship": 97, "horse": 5, "deer": 1}
    (row,) = [row for row in read_sources(SOURCES) if row.file == cifar10.STRIPS]
    assert f"{60_000 - len(copies):,} lossless, {len(copies)} JPEG copies (97 ships, 5 horses, 1 deer)" in row.note


@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
def test_attributes_of_a_stand_in_can_be_told_from_its_images():
    from sklearn.linear_model import LogisticRegression

    table = stand_in(plugins.create("dataset", "celeba").of_version("stand-in"))
    x = table.features[:1000].reshape(1000, -1) / 255
    for name, codes in table.attributes.items():
        y = codes[:1000]
        score = LogisticRegression(max_iter=20).fit(x[:500], y[:500]).score(x[500:], y[500:])
        assert score > np.bincount(y).max() / len(y) + 0.1, name
        assert abs(np.corrcoef(codes, table.labels)[0, 1]) < 0.05, name


def test_six_tenths_of_cifars_stand_in_are_animals():
    dataset = plugins.create("dataset", "cifar10").of_version("stand-in")
    vars(dataset).update(rows=100)
    table = stand_in(dataset)
    np.testing.assert_array_equal(table.attributes["animal"], animals(table.labels))
    assert table.attributes["animal"].mean() == 0.6
