"""avazu_days: avazu for learning from day to day, which the sample at hand, a single hour, does not allow.

The same file as avazu's, where it is whole; else a stand-in of ten days, each a little different from the one before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from .avazu import Avazu


class AvazuDays(Avazu):
    """40,428,967 advertisements of ten days, 22 features; 17.0% were clicked."""

    versions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"stand-in": {"rows": 40_000}}
