"""No test waits for the yardstick."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cutlayer.core import machine


@pytest.fixture(scope="session", autouse=True)
def short_yardstick() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "STEPS", 10)
        yield
