"""at: adversarial training of the extractor for a known task, against an adversary that predicts the attribute.

Each device trains the extractor, an adversary that predicts the attribute from the representation, and the task's
classifier; the extractor minimizes (1 - w) times the classifier's loss - w times the adversary's. The weights sum to 1,
as tappfl's do, so that the two differ only in their measure of utility.

DeepObfuscator, which the paper names for it, has a second adversary that reconstructs the inputs. It is left out: the
server here wants the attribute, and nothing in the paper measures reconstructions; the extractor is freer without it.

Li, Guo, Yang, Chen, "DeepObfuscator: Adversarial Training Framework for Privacy-Preserving Image Classification";
Arroyo Arevalo et al., "Task-Agnostic Privacy-Preserving Representation Learning for Federated Learning Against
Attribute Inference Attacks", Discussion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from cutlayer.core.limits import Limits
from cutlayer.games.federated.defense import Defense


@dataclass(frozen=True)
class AdversarialTraining(Defense):
    """Adversarial training: the task's loss minus an adversary's."""

    limits: ClassVar[Limits] = {"weight": (0, 1)}
    strength: ClassVar[str] = "weight"
    strengths: ClassVar[tuple[float, float]] = (0.0, 1.0)

    weight: float = 0.5  # w

    @property
    def roles(self) -> Mapping[str, float]:
        """The weights of the adversary's and the classifier's loss."""
        return {"privacy": -self.weight, "task": 1 - self.weight}
