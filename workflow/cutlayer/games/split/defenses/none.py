"""none: no defense; the label party releases the true gradients."""

from __future__ import annotations

from dataclasses import dataclass

from cutlayer.games.split.defense import Defense


@dataclass(frozen=True)
class NoDefense(Defense):
    """No defense: all hooks keep the base class's behavior."""
