"""A progress line for long-running loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from tqdm import tqdm

Item = TypeVar("Item")


def steps(items: Sequence[Item], what: str) -> Iterable[Item]:
    """Iterate with a progress line on standard error, shown only after 5 seconds."""
    return tqdm(items, desc=what, delay=5, mininterval=2, leave=False, position=0)
