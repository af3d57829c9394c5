"""cifar10: small photographs of ten kinds of things, 32 x 32 pixels; the training part comes before the test part.

Next to the official archive there are strips of all 60,000: lossless, but for 103 images that are JPEG copies (97
ships, 5 horses, a deer). Or a sample of 14,000 as arrays.

The sensitive attribute, whether the thing is an animal, follows from the class, in a stand-in too.

Krizhevsky, "Learning Multiple Layers of Features from Tiny Images".
"""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ._pixels import opened, same
from .base import Dataset, Table

ARCHIVE, STRIPS = "cifar-10-binary.tar.gz", "cifar10_full_webp.npz"
BATCHES = ("data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch")
IMAGES = 10_000  # in a batch
IN_STRIP = 500  # images, one below the other
PARTS = {"train": range(100), "test": range(100, 120)}  # which strips
PIXELS = {  # of the strips, decoded, colors last
    "train": "9d6dff11476b50fa7fa139a26943c3ec4afaec5b2da777ea2fa2fcc7e36e35e4",
    "test": "25a508aee148b4ccf689df271258bb61c79db1edd6c7bdc2d32e0f748c0bf68c",
}
ANIMALS = ("bird", "cat", "deer", "dog", "frog", "horse")


class Cifar10(Dataset):
    """60,000 images in three colors, ten things of equal number; or a sample of 12,000 + 2,000."""

    kind = "images"
    rows = 60_000
    columns = 3_072
    shape = (3, 32, 32)
    classes = 10
    class_names = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
    class_rates = (0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1)
    attributes: ClassVar[Mapping[str, int]] = {"animal": 2}
    values: ClassVar[Mapping[str, tuple[str, ...]]] = {"animal": ("no animal", "animal")}
    versions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"sample": {"rows": 14_000}, "stand-in": {"rows": 7_000}}

    def parts(self, files: Mapping[str, Path]) -> Iterator[Table]:
        """Read the archive batch by batch, or strip by strip, or the sample's arrays."""
        ((name, path),) = files.items()
        read = {ARCHIVE: self._archive, STRIPS: self._strips}.get(name, self._sample)
        yield from read(path)

    def table(
        self, features: np.ndarray, labels: np.ndarray, attributes: Mapping[str, np.ndarray] | None = None
    ) -> Table:
        """Make a table of images; the attribute is found from the labels, other attributes there are none."""
        animals = [self.class_names.index(name) for name in ANIMALS]
        return super().table(features, labels, {"animal": np.isin(labels, animals)})

    def _archive(self, path: Path) -> Iterator[Table]:
        """Each image is a byte for its class and then its pixels, color by color and row by row."""
        with tarfile.open(path) as archive:
            for batch in BATCHES:
                stream = archive.extractfile(f"cifar-10-batches-bin/{batch}.bin")
                content = np.frombuffer(stream.read() if stream else b"", np.uint8)
                if len(content) != IMAGES * (1 + self.columns):
                    raise ValueError(f"{ARCHIVE}: {batch}.bin has {len(content):,} bytes")
                images = content.reshape(IMAGES, 1 + self.columns)
                yield self.table(images[:, 1:].reshape(-1, *self.shape), images[:, 0])

    def _strips(self, path: Path) -> Iterator[Table]:
        """Images in the original order: all strips as one array of bytes, where each ends, and the labels."""
        with zipfile.ZipFile(path) as arrays:
            content, ends, labels = (_array(arrays, name) for name in ("webp", "offset", "label"))
        count = sum(map(len, PARTS.values()))
        if len(ends) != count + 1 or ends[-1] != len(content) or len(labels) != count * IN_STRIP:
            raise ValueError(f"{STRIPS} is not {count} strips of {IN_STRIP} images and their labels")
        for part, places in PARTS.items():
            strips = (self._strip(content[ends[i] : ends[i + 1]], i) for i in places)
            for i, images in zip(places, same(strips, PIXELS[part], f"{STRIPS}, {part} part,"), strict=True):
                yield self.table(images.transpose(0, 3, 1, 2), labels[i * IN_STRIP : (i + 1) * IN_STRIP])

    def _strip(self, content: np.ndarray, number: int) -> np.ndarray:
        """The images (n, height, width, 3) of one strip."""
        colors, height, width = self.shape
        strip = opened(io.BytesIO(content.tobytes()), "WEBP", (width, IN_STRIP * height), f"{STRIPS}: strip {number}")
        return np.asarray(strip).reshape(IN_STRIP, height, width, colors)

    def _sample(self, path: Path) -> Iterator[Table]:
        """Arrays by name: images with the colors last."""
        with zipfile.ZipFile(path) as arrays:
            for part in ("train", "test"):
                yield self.table(_array(arrays, f"x_{part}").transpose(0, 3, 1, 2), _array(arrays, f"y_{part}"))


def _array(arrays: zipfile.ZipFile, name: str) -> np.ndarray:
    with arrays.open(f"{name}.npy") as file:
        return np.lib.format.read_array(file, allow_pickle=False)
