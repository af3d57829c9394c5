"""Base class of models of clients and server: `bottom` is the clients' encoder, `top` the server's classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cutlayer.games.base.model import CutModel, Inputs

__all__ = ["Inputs", "Model"]


@dataclass(frozen=True)
class Model(CutModel):
    """A network that is split between clients and server."""

    games: ClassVar[set[str]] = {"split_server"}
