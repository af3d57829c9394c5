"""none: no defense; the true weights are published and the true scores revealed."""

from __future__ import annotations

from dataclasses import dataclass

from cutlayer.games.vertical.defense import Defense


@dataclass(frozen=True)
class NoDefense(Defense):
    """No defense: all hooks keep the base class's behavior."""
