"""celeba: photographs of celebrities, and whether they smile; the whole aligned photograph, squeezed to a square.

Squeezed, not cropped: of 178 x 218 pixels, so that faces look broad. A sample of 30,000 comes in that size.
Whether a row is for training, validation or test (0, 1, 2 of `part`) follows the official partition, which goes by
persons and depends on the photograph's number. Images of a stand-in are smaller.

Liu, Luo, Wang, Tang, "Deep Learning Face Attributes in the Wild".
"""

from __future__ import annotations

import io
import re
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from PIL import Image

from ._pixels import opened, same
from .base import Dataset, Table

PHOTOGRAPHS, LIST = "img_align_celeba.zip", "list_attr_celeba.txt"
SMALL, TABLE = "celeba64_30000.tar.gz", "celeba.csv"
SIZE = (178, 218)  # width and height of the aligned photographs
LAST = (162_770, 182_637, 202_599)  # the last photograph of each part of the official partition
AT_ONCE = 1_000  # photographs in memory
NAME = re.compile(r"(\d{6})\.jpg")
PIXELS = "57013190dcc7030fcf4dccc9a1a20449d4e2a9c345af5021b2b7b8e60debe956"  # of the sample, decoded, colors last


class Celeba(Dataset):
    """202,599 faces, 64 x 64 pixels in three colors; 48.2% smile. Or a sample of 30,000."""

    kind = "images"
    rows = 202_599
    columns = 12_288
    shape = (3, 64, 64)
    classes = 2
    class_names = ("serious", "smiling")
    class_rates = (0.5179, 0.4821)
    attributes: ClassVar[Mapping[str, int]] = {"male": 2, "attractive": 2, "wearing_lipstick": 2, "part": 3}
    values: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "male": ("female", "male"),
        "attractive": ("not attractive", "attractive"),
        "wearing_lipstick": ("no lipstick", "lipstick"),
    }
    versions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "photographs": {"rows": 30_000, "class_rates": (0.5189, 0.4811)},
        "stand-in": {"rows": 7_000, "columns": 6_912, "shape": (3, 48, 48)},
    }

    def parts(self, files: Mapping[str, Path]) -> Iterator[Table]:
        """Read the official photographs, or those of the sample, some at a time."""
        if PHOTOGRAPHS in files:
            yield from self._originals(files[PHOTOGRAPHS], _listed(files[LIST]))
        else:
            yield from self._sample(files[SMALL], _table(files[TABLE]))

    def _originals(self, path: Path, has: pd.DataFrame) -> Iterator[Table]:
        with zipfile.ZipFile(path) as archive:

            def squeezed(name: str) -> np.ndarray:
                with archive.open(f"img_align_celeba/{name}") as file:
                    image = opened(file, "JPEG", SIZE, f"{PHOTOGRAPHS}: {name}")
                return np.asarray(image.resize(self.shape[:0:-1], Image.Resampling.BILINEAR))

            for start in range(0, len(has), AT_ONCE):
                some = has[start : start + AT_ONCE]
                yield self._described(np.stack([squeezed(name) for name in some.index]), some)

    def _sample(self, path: Path, has: pd.DataFrame) -> Iterator[Table]:
        """In the order of the numbers, whatever the archive's is."""
        packed = _packed(path)
        names = sorted(packed)
        _parts_of(names, SMALL)
        if strange := sorted(set(names) - set(has.index)):
            raise ValueError(f"{TABLE} does not have {strange[0]}, {SMALL} does")
        groups = [names[start : start + AT_ONCE] for start in range(0, len(names), AT_ONCE)]
        images = (np.stack([self._small(packed[name], name) for name in group]) for group in groups)
        for some, group in zip(same(images, PIXELS, SMALL), groups, strict=True):
            yield self._described(some, has.loc[group])

    def _small(self, content: bytes, name: str) -> np.ndarray:
        return np.asarray(opened(io.BytesIO(content), "JPEG", self.shape[:0:-1], f"{SMALL}: {name}"))

    def _described(self, images: np.ndarray, has: pd.DataFrame) -> Table:
        """A table of images (n, height, width, 3)."""
        attributes = {name: has[name.title()].to_numpy() for name in self.attributes}
        return self.table(images.transpose(0, 3, 1, 2), has["Smiling"].to_numpy(), attributes)


def _packed(path: Path) -> dict[str, bytes]:
    """The small photographs by name, still compressed; the archive also has its makers' own lists."""
    with tarfile.open(path) as archive:
        files = ((member.name, archive.extractfile(member)) for member in archive if member.name.endswith(".jpg"))
        return {name.rpartition("/")[2]: file.read() for name, file in files if file}


def _listed(path: Path) -> pd.DataFrame:
    """The attributes (n, 40) by the name of the photograph: first their number, then the header, then the rows."""
    with path.open(encoding="utf-8") as file:
        rows = int(file.readline())
        table = pd.read_csv(file, sep=r"\s+")
    if len(table) != rows:
        raise ValueError(f"{LIST} has {len(table):,} photographs, its first line says {rows:,}")
    return _marked(table, LIST)


def _table(path: Path) -> pd.DataFrame:
    """The same from the table that has names of columns."""
    return _marked(pd.read_csv(path, index_col="filename"), TABLE)


def _marked(table: pd.DataFrame, file: str) -> pd.DataFrame:
    """Attributes as truth values, and the part (0, 1, 2) that the photograph belongs to."""
    if not table.isin([-1, 1]).all(axis=None):
        raise ValueError(f"{file} has an attribute that is neither 1 nor -1")
    return (table == 1).assign(Part=_parts_of(list(table.index), file))


def _parts_of(names: list[str], file: str) -> np.ndarray:
    """The parts (n,) of the official partition; a name that is none of its numbers is an error."""
    numbers = [int(found[1]) if (found := NAME.fullmatch(name)) else 0 for name in names]
    for name, number in zip(names, numbers, strict=True):
        if not 1 <= number <= LAST[-1]:
            raise ValueError(f"{file} has {name}; the official partition goes from 000001.jpg to {LAST[-1]}.jpg")
    return np.searchsorted(LAST, numbers)
