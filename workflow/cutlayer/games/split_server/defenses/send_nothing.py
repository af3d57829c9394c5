"""send_nothing: clients release zeros, so that the server sees noise and predicts the most common class.

The floor of every trade-off between utility and the leak of an attribute: the majority's prediction, for the server has
no features of its own. Nothing trains the encoder, which stays as it was drawn. A defense whose model is no better than
this is not worth its noise.

Ours, as a baseline; no paper reports it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from cutlayer.games.split_server.defense import ClientsContext, Defense


@dataclass(frozen=True)
class SendNothing(Defense):
    """Zero features; no hyperparameters."""

    about: ClassVar[str] = "row"

    def release(self, features: torch.Tensor) -> torch.Tensor:
        """Zeros (B, ...)."""
        return 0 * features

    def auc_bound(self, clients: ClientsContext) -> float:
        """0.5, chance: what is released depends on no row."""
        return 0.5
