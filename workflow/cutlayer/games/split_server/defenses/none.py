"""none: no defense; features are released with the setup's noise alone."""

from __future__ import annotations

from dataclasses import dataclass

from cutlayer.games.split_server.defense import Defense


@dataclass(frozen=True)
class NoDefense(Defense):
    """No defense: all hooks keep the base class's behavior."""
