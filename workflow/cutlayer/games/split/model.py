"""The contract of a model of the split game: the feature party's bottom, the label party's top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cutlayer.games.base.model import CutModel, Inputs

__all__ = ["Inputs", "Model"]


@dataclass(frozen=True)
class Model(CutModel):
    """One network, cut between the parties."""

    games: ClassVar[set[str]] = {"split"}
