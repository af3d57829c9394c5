"""avazu: ten days of advertisements on mobile devices, described by 22 categories; clicked or not.

A category's code is a hash of its text. The hour of the day is one of them; the day is an attribute. `id` is dropped.
Rows are in the order of time; negatives are a sample, so that the rate of clicks is not that of the traffic.

Avazu, Click-Through Rate Prediction (Kaggle, 2014).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ._fields import blocks
from .base import Dataset, Schema, Table

FIRST_DAY = 141021  # YYMMDD; the last one is in the same month


class Avazu(Dataset):
    """40,428,967 advertisements, 22 features; 17.0% were clicked."""

    kind = "clicks"
    rows = 40_428_967
    columns = 22
    classes = 2
    class_names = ("no click", "click")
    class_rates = (0.8302, 0.1698)
    schema: ClassVar[Schema] = {
        "hour": 24, "C1": 7, "banner_pos": 7, "site_id": 4_737, "site_domain": 7_745, "site_category": 26,
        "app_id": 8_552, "app_domain": 559, "app_category": 36, "device_id": 2_686_408, "device_ip": 6_729_486,
        "device_model": 8_251, "device_type": 5, "device_conn_type": 4, "C14": 2_626, "C15": 8, "C16": 9, "C17": 435,
        "C18": 4, "C19": 68, "C20": 172, "C21": 60,
    }  # fmt: skip
    attributes: ClassVar[Mapping[str, int]] = {"day": 10}
    versions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "sample": {"rows": 8_999, "class_rates": (0.8263, 0.1737), "attributes": {"day": 1}},
        "stand-in": {"rows": 20_000},
    }

    def parts(self, files: Mapping[str, Path]) -> Iterator[Table]:
        """Read train.csv, or its head: a header, commas, no quotes; `hour` is YYMMDDHH."""
        (path,) = files.values()
        header = ",".join(["id", "click", *self.feature_names])
        for fields in blocks(path, 2 + self.columns, ",", header):
            clicks, hours = fields[1:3].numbers(-1).T
            categories = np.hstack([hours[:, None] % 100, fields[3:].hashes()])
            yield self.table(categories, clicks, {"day": hours // 100 - FIRST_DAY})
