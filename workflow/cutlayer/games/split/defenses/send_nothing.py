"""send_nothing: releases zero gradients, so that the bottom model keeps its random initialization.

The floor of every trade-off between utility and label leakage: the label party learns from its own features and from
the embeddings of a random bottom model alone. A defense whose utility is no higher than this is not worth its noise.
The floor is high where the label party has the wide part of the model, as on click logs.

Ours, as a baseline; no paper reports it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from cutlayer.games.split.defense import Context, Defense, Training


@dataclass(frozen=True)
class SendNothing(Defense):
    """Zero gradients; no hyperparameters."""

    about: ClassVar[str] = "label"

    def auc_bound(self, training: Training) -> float:
        """0.5, chance: what is released does not depend on any label."""
        return 0.5

    def backward(self, gradient: torch.Tensor, context: Context) -> torch.Tensor:
        """Zeros (B, d)."""
        return torch.zeros_like(gradient)
