"""none: no defense; devices train the extractor with the utility network alone and upload its parameters."""

from __future__ import annotations

from dataclasses import dataclass

from cutlayer.games.federated.defense import Defense


@dataclass(frozen=True)
class NoDefense(Defense):
    """No defense: all hooks keep the base class's behavior."""
