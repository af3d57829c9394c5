"""send_nothing: zeros come back, so that the passive party learns nothing and its bottom model stays as it was drawn.

The floor of every trade-off between utility and the leak of labels: what is left is what the label party learns from
its own features and from the embeddings of a random bottom model. A defense that keeps no more than this is not worth
its noise. The floor is high where the label party has the wide part of the model, as on click logs.

Ours, as a baseline; no paper reports it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from cutlayer.games.split.defense import Context, Defense, Training


@dataclass(frozen=True)
class SendNothing(Defense):
    """Has no parameter."""

    about: ClassVar[str] = "label"

    def auc_bound(self, training: Training) -> float:
        """Chance: what is sent does not depend on any label."""
        return 0.5

    def backward(self, gradient: torch.Tensor, context: Context) -> torch.Tensor:
        """Zeros (B, d)."""
        return torch.zeros_like(gradient)
