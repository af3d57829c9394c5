"""criteo: a week of advertisements that Criteo showed, described by 13 counts and 26 hashed categories; clicked or not.

A category is published as 8 hexadecimal digits, which are its code here, less one bit; a missing one has a code of its
own. Rows are in the order of time; negatives are a sample, so that the rate of clicks is not that of the traffic.

Of the first 80,000 rows of Criteo's own sample there are only hashes of the categories, of 20 bits: other codes, and
about one in a hundred values of the widest columns shares its code. A file has the ones or the others, never both. Some
of these rows' integers are uncertain, nearly all of them in I5, of which about 1.6% are estimated to be wrong.

Criteo Labs, Display Advertising Challenge (Kaggle, 2014).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ._fields import Fields, blocks
from .base import MISSING, Dataset, Schema, Table

NO_CATEGORY = 0
HASHED = "criteo_dac80000_hashed.tsv"
MARK = "h"  # before the hash of a category


class Criteo(Dataset):
    """45,840,617 advertisements, 39 features; 25.6% were clicked."""

    kind = "clicks"
    rows = 45_840_617
    columns = 39
    classes = 2
    class_names = ("no click", "click")
    class_rates = (0.7438, 0.2562)
    schema: ClassVar[Schema] = {
        "I1": (0, 0, 0, 0, 1, 1, 3, 6, 214),
        "I2": (-2, 0, 0, 1, 3, 12, 37, 134, 18522),
        "I3": (0, 1, 2, 4, 7, 11, 20, 43, 65535),
        "I4": (0, 1, 2, 3, 4, 7, 10, 18, 280),
        "I5": (0, 25, 299, 1450, 2796, 5091, 10533, 27813, 1618112),
        "I6": (0, 3, 10, 22, 41, 73, 131, 281, 12167),
        "I7": (0, 0, 0, 1, 3, 5, 10, 24, 1658),
        "I8": (0, 1, 2, 4, 7, 12, 20, 32, 547),
        "I9": (0, 3, 10, 23, 42, 71, 124, 258, 5639),
        "I10": (0, 0, 0, 0, 0, 1, 1, 1, 4),
        "I11": (0, 0, 0, 1, 1, 1, 2, 4, 79),
        "I12": (0, 0, 0, 0, 0, 0, 1, 1, 98),
        "I13": (0, 1, 2, 3, 5, 8, 13, 23, 770),
        "C1": 1_460, "C2": 583, "C3": 10_131_227, "C4": 2_202_608, "C5": 305, "C6": 24, "C7": 12_517, "C8": 633,
        "C9": 3, "C10": 93_145, "C11": 5_683, "C12": 8_351_593, "C13": 3_194, "C14": 27, "C15": 14_992,
        "C16": 5_461_306, "C17": 10, "C18": 5_652, "C19": 2_173, "C20": 4, "C21": 7_046_547, "C22": 18, "C23": 15,
        "C24": 286_181, "C25": 105, "C26": 142_572,
    }  # fmt: skip
    versions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "hashed": {"rows": 80_000, "class_rates": (0.7755, 0.2245)},
        "sample": {"rows": 8_000, "class_rates": (0.7844, 0.2156)},
        "stand-in": {"rows": 20_000},
    }

    def parts(self, files: Mapping[str, Path]) -> Iterator[Table]:
        """Read train.txt, its head or the hashed rows: tabs, no header, the label first; empty is missing."""
        ((name, path),) = files.items()
        for fields in blocks(path, 1 + self.columns, "\t"):
            counts = fields[1:14].numbers(MISSING)
            codes = _codes(fields[14:], name)
            labels = fields[:1].numbers(-1)[:, 0]
            yield self.table(np.hstack([counts, codes]), labels)


def _codes(categories: Fields, file: str) -> np.ndarray:
    """The codes (n, 26) of categories in the clear, or of hashed ones: which of the two, the file says by its name."""
    hashed = file == HASHED
    if categories.here().any() and categories.starting(MARK).any() != hashed:
        found, expected = ("clear", "hashed") if hashed else ("hashed", "clear")
        raise ValueError(f"{file} has {found} categories; expected {expected} ones: the two are never mixed")
    if hashed:
        return 1 + categories.hexadecimal(NO_CATEGORY - 1, MARK, 5)
    return categories.hexadecimal(NO_CATEGORY)
