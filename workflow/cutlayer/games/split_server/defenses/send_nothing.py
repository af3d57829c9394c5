"""send_nothing: clients send zeros, so that the server has its labels and noise, and learns the most common class.

The floor of every trade-off between utility and the leak of an attribute: the majority's guess, of a server that has no
features of its own. Nothing trains the encoder, which stays as it was drawn. A defense whose model is no better than
this is not worth its noise.

Ours, as a baseline; no paper reports it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from cutlayer.games.split_server.defense import Clients, Defense


@dataclass(frozen=True)
class SendNothing(Defense):
    """Has no parameter."""

    about: ClassVar[str] = "row"

    def bound(self, features: torch.Tensor) -> torch.Tensor:
        """Zeros (B, ...)."""
        return 0 * features

    def promise(self, clients: Clients) -> float:
        """Chance: what is sent depends on no row."""
        return 0.5
