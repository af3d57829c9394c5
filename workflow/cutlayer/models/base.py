"""The contract of a model that a protocol trains."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Model:
    """Base of all models; the fields of a subclass are its hyper-parameters."""
