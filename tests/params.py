"""The project's YAML files, as tests take them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cutlayer.core import yamls

PARAMS = Path(__file__).parents[1] / "params.yaml"


def read(file: Path) -> dict[str, Any]:
    """A file's content, for the caller to change."""
    content: dict[str, Any] = yamls.read(file)
    return content


def params() -> dict[str, Any]:
    """That of params.yaml."""
    return read(PARAMS)
