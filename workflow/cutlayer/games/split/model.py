"""Base class of models in split learning: the feature party's bottom model and the label party's top model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cutlayer.games.base.model import CutModel, Inputs

__all__ = ["Inputs", "Model"]


@dataclass(frozen=True)
class Model(CutModel):
    """A network that is split between the feature party and the label party."""

    games: ClassVar[set[str]] = {"split"}
