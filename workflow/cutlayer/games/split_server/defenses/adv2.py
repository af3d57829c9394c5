"""adv2: adversarial training with flipped predictions as the encoder's target, correct or not.

The encoder minimizes L_u + omega times the cross-entropy of the adversary's output with the flipped prediction: the
other value or, of more than two, all others with equal weight. So it gains nothing from an adversary that is
confidently wrong.

Pittaluga, Koppal, Chakrabarti, "Learning Privacy Preserving Encodings through Adversarial Training"; Yu, Xiang, Wang,
Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", 6.1, which leaves more than two values open.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn.functional import cross_entropy, one_hot

from .adv import Adv


@dataclass(frozen=True)
class Adv2(Adv):
    """Adversarial training with label flip: the encoder minimizes cross-entropy with the flipped prediction."""

    def _harm(self, logits: torch.Tensor, attribute: torch.Tensor) -> torch.Tensor:
        """The cross-entropy of the adversary's logits (B, values) with the flipped predictions."""
        values = logits.shape[1]
        others = 1 - one_hot(logits.argmax(dim=1), values).to(logits)
        return cross_entropy(logits, others / (values - 1))
