"""cifar10: small photographs of ten kinds of things, 32 x 32 pixels; the training part comes before the test part.

The sensitive attribute, whether the thing is an animal, follows from the class, in a stand-in too.

Krizhevsky, "Learning Multiple Layers of Features from Tiny Images".
"""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from .base import Dataset, Table

BATCHES = ("data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch")
IMAGES = 10_000  # in a batch
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
        """Read the archive batch by batch, or the sample's arrays."""
        (path,) = files.values()
        yield from self._sample(path) if path.suffix == ".npz" else self._archive(path)

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
                    raise ValueError(f"{batch}.bin has {len(content):,} bytes")
                images = content.reshape(IMAGES, 1 + self.columns)
                yield self.table(images[:, 1:].reshape(-1, *self.shape), images[:, 0])

    def _sample(self, path: Path) -> Iterator[Table]:
        """Arrays by name: images with the colors last."""
        with zipfile.ZipFile(path) as arrays:
            for part in ("train", "test"):
                yield self.table(_array(arrays, f"x_{part}").transpose(0, 3, 1, 2), _array(arrays, f"y_{part}"))


def _array(arrays: zipfile.ZipFile, name: str) -> np.ndarray:
    with arrays.open(f"{name}.npy") as file:
        return np.lib.format.read_array(file, allow_pickle=False)
