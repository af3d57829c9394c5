"""Reader of images and labels in MNIST's idx format: a header of big-endian numbers, then one byte per value."""

from __future__ import annotations

import gzip
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np


def read(path: Path, dimensions: int) -> np.ndarray:
    """The array of a gzipped file of bytes; ValueError where the head, or the size, is another."""
    with gzip.open(path) as file:
        head = np.frombuffer(file.read(4 + 4 * dimensions), ">u4")
        if len(head) != 1 + dimensions or head[0] != 0x800 + dimensions:
            raise ValueError(f"{path.name} has not the head of an idx file of {dimensions} dimensions")
        shape = [int(side) for side in head[1:]]
        values = np.frombuffer(file.read(), np.uint8)
    if len(values) != math.prod(shape):
        raise ValueError(f"{path.name} holds {len(values):,} values, its head says {math.prod(shape):,}")
    return values.reshape(shape)


def images_and_labels(files: Mapping[str, Path]) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 1, height, width) and labels (n,), the training part before the test part."""
    images = [read(files[f"{part}-images-idx3-ubyte.gz"], 3) for part in ("train", "t10k")]
    labels = [read(files[f"{part}-labels-idx1-ubyte.gz"], 1) for part in ("train", "t10k")]
    return np.concatenate(images)[:, None], np.concatenate(labels)
