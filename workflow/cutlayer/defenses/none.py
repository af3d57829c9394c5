"""none: everything is sent as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .base import Defense


@dataclass(frozen=True)
class NoDefense(Defense):
    """Sends everything as it is."""

    protocols: ClassVar[set[str]] = {"vertical", "split", "split_server", "federated"}
