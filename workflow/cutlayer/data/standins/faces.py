"""faces: drawn portraits in place of CelebA's photographs, each after a row of its 40 attributes.

The rows are CelebA's own where its table of attributes is at hand. Else they are drawn from its rates: a man's or a
woman's given the smile, all else given both, so that what depends on those two does so here.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from cutlayer.core.seeds import generator
from cutlayer.data.datasets.base import Dataset, Table

from ._face import portraits
from .tabular import balanced

LAST = (162_770, 182_637, 202_599)  # the last photograph of each part of the official partition
# Measured on the 202,599 rows of the table.
MALE = (0.483, 0.346)  # without a smile, with one
RATES = {  # without a smile: of women, of men; with one: of women, of men
    "5_o_Clock_Shadow": (0, 0.273, 0, 0.257),
    "Arched_Eyebrows": (0.399, 0.042, 0.437, 0.07),
    "Attractive": (0.628, 0.241, 0.723, 0.336),
    "Bags_Under_Eyes": (0.052, 0.277, 0.144, 0.454),
    "Bald": (0, 0.044, 0, 0.069),
    "Bangs": (0.177, 0.087, 0.222, 0.075),
    "Big_Lips": (0.314, 0.151, 0.29, 0.164),
    "Big_Nose": (0.049, 0.348, 0.148, 0.527),
    "Black_Hair": (0.19, 0.294, 0.203, 0.304),
    "Blond_Hair": (0.209, 0.018, 0.264, 0.025),
    "Blurry": (0.054, 0.071, 0.039, 0.037),
    "Brown_Hair": (0.239, 0.15, 0.247, 0.154),
    "Bushy_Eyebrows": (0.069, 0.223, 0.07, 0.276),
    "Chubby": (0.007, 0.095, 0.016, 0.161),
    "Double_Chin": (0.003, 0.052, 0.016, 0.169),
    "Eyeglasses": (0.026, 0.128, 0.02, 0.119),
    "Goatee": (0, 0.166, 0, 0.127),
    "Gray_Hair": (0.008, 0.074, 0.013, 0.102),
    "Heavy_Makeup": (0.585, 0.003, 0.727, 0.003),
    "High_Cheekbones": (0.163, 0.088, 0.898, 0.637),
    "Mouth_Slightly_Open": (0.239, 0.21, 0.769, 0.747),
    "Mustache": (0, 0.113, 0, 0.08),
    "Narrow_Eyes": (0.093, 0.088, 0.127, 0.169),
    "No_Beard": (0.999, 0.576, 0.999, 0.65),
    "Oval_Face": (0.219, 0.168, 0.424, 0.297),
    "Pale_Skin": (0.082, 0.03, 0.035, 0.016),
    "Pointy_Nose": (0.346, 0.166, 0.371, 0.157),
    "Receding_Hairline": (0.048, 0.1, 0.057, 0.144),
    "Rosy_Cheeks": (0.024, 0.001, 0.184, 0.006),
    "Sideburns": (0, 0.154, 0, 0.107),
    "Straight_Hair": (0.183, 0.231, 0.185, 0.26),
    "Wavy_Hair": (0.417, 0.145, 0.473, 0.135),
    "Wearing_Earrings": (0.227, 0.014, 0.385, 0.018),
    "Wearing_Hat": (0.034, 0.091, 0.017, 0.067),
    "Wearing_Lipstick": (0.739, 0.006, 0.862, 0.007),
    "Wearing_Necklace": (0.166, 0.019, 0.226, 0.017),
    "Wearing_Necktie": (0, 0.152, 0, 0.208),
    "Young": (0.914, 0.651, 0.84, 0.606),
}


class Faces(Dataset):
    """A dataset of faces, whether photographs or drawn: what its images and their attributes make."""

    def described(self, images: np.ndarray, has: Mapping[str, np.ndarray]) -> Table:
        """Make a table of images and attributes as CelebA names them: Smiling, Wearing_Lipstick; and their Part."""
        return self.table(images, has["Smiling"], {name: has[name.title()] for name in self.attributes})


def stand_in(dataset: Faces) -> Table:
    """Generate the stand-in from rates alone: the same table on every call, for it is seeded by the name."""
    draw = generator("stand-in", dataset.name)
    has = likely(balanced(dataset, draw) > 0, draw)
    images = portraits(has, draw)
    numbers = draw.integers(1, LAST[-1] + 1, len(images))
    return dataset.described(images, {**has, "Part": np.searchsorted(LAST, numbers)})


def drawn_after(dataset: Faces, table: pd.DataFrame) -> Table:
    """Draw as many rows of the table as are declared, smiling at the declared rate; (n, 41) attributes and Part."""
    draw = generator("stand-in", dataset.name, "attributes")
    wanted = balanced(dataset, draw) > 0
    rows = np.empty(len(wanted), np.int64)
    for smiling in (False, True):
        found = np.flatnonzero(table["Smiling"].to_numpy() == smiling)
        rows[wanted == smiling] = draw.choice(found, (wanted == smiling).sum(), replace=False)
    has = {name: table[name].to_numpy()[rows] for name in ("Smiling", "Male", *RATES)}
    return dataset.described(portraits(has, draw), {**has, "Part": table["Part"].to_numpy()[rows]})


def likely(smiling: np.ndarray, draw: np.random.Generator) -> Mapping[str, np.ndarray]:
    """Attributes (n,) bool that go with a smile or none (n,) at the table's rates."""
    male = draw.random(len(smiling)) < np.take(MALE, smiling)
    cell = 2 * smiling + male
    others = {name: draw.random(len(smiling)) < np.take(rates, cell) for name, rates in RATES.items()}
    return {"Smiling": smiling, "Male": male, **others}
