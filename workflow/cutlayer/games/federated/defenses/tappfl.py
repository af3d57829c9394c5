"""tappfl: minimizes the information of the representation about the attribute, and maximizes that about the data.

Each device trains the extractor, a privacy network that predicts u from r, and a utility network that scores (x, r, u),
whose loss is -I_JSD; the extractor minimizes - lambda CE + (1 - lambda) (-I_JSD), equation (7). No task is known.
Algorithm 1, line 18, has + lambda CE, with which the extractor helps the privacy network: `sign: printed` is that
variant.

Arroyo Arevalo et al., "Task-Agnostic Privacy-Preserving Representation Learning for Federated Learning Against
Attribute Inference Attacks", equation (7) and algorithm 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from cutlayer.core.limits import Limits
from cutlayer.games.federated.defense import Defense


@dataclass(frozen=True)
class Tappfl(Defense):
    """Task-agnostic representations: a privacy network and a utility network estimate mutual information."""

    limits: ClassVar[Limits] = {"weight": (0, 1)}
    strength: ClassVar[str] = "weight"
    strengths: ClassVar[tuple[float, float]] = (0.0, 1.0)

    weight: float = 0.5  # lambda
    sign: Literal["corrected", "printed"] = "corrected"  # of lambda CE

    @property
    def roles(self) -> Mapping[str, float]:
        """The weights of both networks' losses; both train at any weight, as figure 2 shows the loss of each."""
        return {"privacy": self.weight if self.sign == "printed" else -self.weight, "utility": 1 - self.weight}
