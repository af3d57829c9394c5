"""pslf: gradients come from labels flipped once; a second top model learns the true labels and predicts.

As in `randomized_response` each label is flipped at random once, before the training, and a top model that learns the
flipped labels gives the gradients that are released. A second one of the same form starts from the same weights and
learns the true labels from the embeddings, and from the label party's own features; nothing of it returns. It makes
the predictions. So the bound is that of randomized response: epsilon bounds what all epochs together reveal of a
label, whatever their number. It is of what comes back; predictions that the feature party gets to see are not.

The loss of the first top model needs no `correction`, as it predicts nothing. A corrected loss has no lower bound, and
its gradients grow with every epoch.

The adaptive adversary combines a row's gradients of all epochs, and meets the flipped label (`repeated`).

Ours, after Wan, Sun et al., "PSLF: Defending Against Label Leakage in Split Learning", of which only the abstract was
read: its submodel for the true labels, without its labels of more values and its upsampling.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Literal

import numpy as np
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, pad

from cutlayer.games.split.defense import Context, Training

from .randomized_response import RandomizedResponse


@dataclass(frozen=True)
class PSLF(RandomizedResponse):
    """Randomized response for the gradients, true labels for the predictions."""

    correction: Literal["loss", "prediction", "none"] = "none"  # of the loss that the gradients come from

    def top(self, module: nn.Module, width: int, training: Training) -> nn.Module:
        """The top model for flipped labels and that for true ones."""
        return TwoTops(module)

    def penalty(self, sent: Tensor, logits: Tensor, context: Context) -> Tensor:
        """The cross-entropy of the second top model, which depends on the embeddings as on constants."""
        found = context.top.found
        return cross_entropy(pad(found, (1, 0)) if found.shape[1] == 1 else found, context.labels)

    def to_class_probabilities(self, probabilities: np.ndarray, state: Tensor) -> np.ndarray:
        """The second top model's probabilities (N, k), which need no correction."""
        return probabilities


class TwoTops(nn.Module):
    """A top model for the gradients and, in evaluation mode, one for the predictions; `found` are its last logits."""

    found: Tensor

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.released, self.private = module, copy.deepcopy(module)

    def forward(self, sent: Tensor, x: dict[str, Tensor]) -> Tensor:
        """Logits (B, outputs)."""
        self.found = self.private(sent.detach(), x)
        return self.released(sent, x) if self.training else self.found
