"""celeba: photographs of celebrities, and whether they smile; the same crop of each, made small.

Without the photographs, which may not be passed on, faces are drawn: after the rows of the table of attributes, where
that is at hand.

Liu, Luo, Wang, Tang, "Deep Learning Face Attributes in the Wild".
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from PIL import Image

from cutlayer.data.standins.faces import Faces, drawn_after

from .base import Table

PHOTOGRAPHS, LIST, TABLE = "img_align_celeba.zip", "list_attr_celeba.txt", "celeba.csv"
SIZE = (178, 218)  # width and height of the aligned photographs
SQUARE = (0, 20, 178, 198)  # left, top, right, bottom of what is kept: the face, whose eyes are at row 111
AT_ONCE = 1_000  # photographs in memory


class Celeba(Faces):
    """202,599 faces, 48 x 48 pixels in three colors; 48.2% smile."""

    kind = "images"
    stand_in = "faces"
    rows = 202_599
    columns = 6_912
    shape = (3, 48, 48)
    classes = 2
    class_names = ("serious", "smiling")
    class_rates = (0.5179, 0.4821)
    attributes: ClassVar[Mapping[str, int]] = {"male": 2, "attractive": 2, "wearing_lipstick": 2}
    values: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "male": ("female", "male"),
        "attractive": ("not attractive", "attractive"),
        "wearing_lipstick": ("no lipstick", "lipstick"),
    }
    versions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"attributes": {"rows": 12_000}, "stand-in": {"rows": 7_000}}

    def parts(self, files: Mapping[str, Path]) -> Iterator[Table]:
        """Read the photographs some at a time, or draw faces after the table of attributes."""
        if PHOTOGRAPHS in files:
            yield from self._photographs(files[PHOTOGRAPHS], _listed(files[LIST]))
        else:
            yield drawn_after(self, _boolean(pd.read_csv(files[TABLE], index_col="filename")))

    def _photographs(self, path: Path, has: pd.DataFrame) -> Iterator[Table]:
        with zipfile.ZipFile(path) as archive:
            for start in range(0, len(has), AT_ONCE):
                some = has[start : start + AT_ONCE]
                images = np.stack([self._photograph(archive, name) for name in some.index])
                yield self.described(images, {str(name): column.to_numpy() for name, column in some.items()})

    def _photograph(self, archive: zipfile.ZipFile, name: str) -> np.ndarray:
        """One photograph as (3, height, width) uint8."""
        try:
            with archive.open(f"img_align_celeba/{name}") as file, Image.open(file) as image:
                if image.size != SIZE:
                    raise ValueError(f"{name} has {image.size} pixels, {SIZE} are meant")
                small = image.convert("RGB").resize(self.shape[:0:-1], Image.Resampling.BILINEAR, box=SQUARE)
        except OSError as error:
            raise ValueError(f"{name}: {error}") from error
        return np.asarray(small).transpose(2, 0, 1)


def _listed(path: Path) -> pd.DataFrame:
    """The attributes (n, 40) bool by the name of the photograph: first their number, then the header, then the rows."""
    with path.open() as file:
        rows = int(file.readline())
        table = pd.read_csv(file, sep=r"\s+")
    if len(table) != rows:
        raise ValueError(f"it lists {len(table):,} photographs, its first line says {rows:,}")
    return _boolean(table)


def _boolean(table: pd.DataFrame) -> pd.DataFrame:
    if not table.isin([-1, 1]).all(axis=None):
        raise ValueError("an attribute is neither 1 nor -1")
    return table == 1
