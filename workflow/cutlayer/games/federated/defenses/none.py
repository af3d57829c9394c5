"""none: everything is sent as it is."""

from __future__ import annotations

from dataclasses import dataclass

from cutlayer.games.federated.defense import Defense


@dataclass(frozen=True)
class NoDefense(Defense):
    """Every hook does what the contract says when it is not overridden."""
