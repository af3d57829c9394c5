"""images: a stand-in whose classes are shapes: each image is its class's shape, shifted, in another light, with noise.

A shape is a smooth random field, one for each color, cut off at zero. Every value of a sensitive attribute has one too,
which lies over the class's; attributes and classes are independent.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter

from cutlayer.core.seeds import generator
from cutlayer.data.datasets.base import Dataset, Table

from .tabular import balanced, coded

SMOOTH = 4.0  # pixels over which a shape is smooth
SHIFT = 4  # pixels by which an image is shifted at most, around its edges
NOISE = 100.0  # standard deviation in steps of 256
BRIGHT = 160.0  # the shape's highest value on average


def stand_in(dataset: Dataset) -> Table:
    """Generate the stand-in of a dataset: the same table on every call, for it is seeded by the name."""
    draw = generator("stand-in", dataset.name)
    labels = balanced(dataset, draw)
    shapes = [_shapes(levels, dataset.shape, draw) for levels in (dataset.classes, *dataset.attributes.values())]
    attributes = {name: coded(levels, draw.random(len(labels))) for name, levels in dataset.attributes.items()}
    codes = np.stack([labels, *attributes.values()], axis=1)
    images = np.empty((len(labels), *dataset.shape), np.uint8)
    shifts = draw.integers(-SHIFT, SHIFT + 1, (len(labels), 2))
    light = draw.uniform(0.5, 1.5, len(labels))
    for image, values, shift, bright in zip(images, codes, shifts, light, strict=True):
        shape = sum(own[value] for own, value in zip(shapes, values, strict=True))
        drawn = bright * np.roll(shape, shift, axis=(1, 2)) + NOISE * draw.standard_normal(dataset.shape, np.float32)
        image[:] = np.clip(drawn, 0, 255)
    return dataset.table(images, labels, attributes)


def _shapes(count: int, shape: tuple[int, ...], draw: np.random.Generator) -> np.ndarray:
    """So many of them (count, channels, height, width)."""
    return np.stack([_shape(shape, draw) for _ in range(count)])


def _shape(shape: tuple[int, ...], draw: np.random.Generator) -> np.ndarray:
    """A field (channels, height, width) from 0 to BRIGHT, smooth in height and width."""
    field = gaussian_filter(draw.standard_normal(shape), (0, SMOOTH, SMOOTH), mode="wrap")
    return BRIGHT * np.maximum(field, 0) / field.max()
