"""dp_gaussian: adds Gaussian noise to every parameter that a device uploads.

Plain, as in the paper: N(0, noise^2) on each. The sensitivity of an upload is unbounded, so that no epsilon follows,
however strong the noise.

With `epsilon` and `clip` an upload's change from the round's extractor is clipped to an L2 norm of at most `clip`, and
the noise is the least for which all uploads together are (epsilon, delta)-differentially private. Neighbors are two
federations that differ in one device, in all of its data. The server is the adversary, sees each upload by itself and
knows whose it is: there is no amplification by sampling participants, the sensitivity of an upload is 2 clip, and a
device counts as taking part in every round, the worst case. The composition is adaptive: an upload depends on the
device's own data and on the extractor, which the server computes from earlier uploads.

That bounds what uploads reveal of a device, given the extractor of the first round: its pre-training, which all
defenses share, has no noise. It does not bound what a row's representation reveals of the row's attribute, which is
what this protocol's adversary wants. Nor is the noise of floating-point numbers exactly Gaussian.

Arroyo Arevalo et al., "Task-Agnostic Privacy-Preserving Representation Learning for Federated Learning Against
Attribute Inference Attacks", Results; McMahan et al., "Learning Differentially Private Recurrent Language Models", for
clipped updates of devices; Balle and Wang, "Improving the Gaussian Mechanism for Differential Privacy".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from cutlayer.core.errors import InputError
from cutlayer.core.limits import Limits
from cutlayer.games.federated.defense import Defense, FederationContext
from cutlayer.theory.accounting import gaussian_deviation

LEAST = 0.01  # epsilon: below, accountants take minutes


@dataclass(frozen=True)
class DPGaussian(Defense):
    """Gaussian noise on uploads, of a given strength or with device-level (epsilon, delta)-differential privacy."""

    limits: ClassVar[Limits] = {"noise": (0, None), "epsilon": (0, 1000), "delta": (1e-15, 0.01), "clip": (0, None)}
    strength: ClassVar[str] = "noise"
    strengths: ClassVar[tuple[float, float]] = (0.001, 1.0)
    order: ClassVar[int] = 2  # of the norm that is clipped

    noise: float = 0.01  # standard deviation, if no epsilon is given
    epsilon: float = 0.0  # of the whole training; 0: nothing is clipped and nothing guaranteed
    delta: float = 1e-5
    clip: float = 0.0  # greatest norm of an upload's change

    def __post_init__(self) -> None:
        name = type(self).__module__.rpartition(".")[2]
        if 0 < self.epsilon < LEAST:
            raise InputError(f"defense.{name}", f"epsilon = {self.epsilon}", f"0 or at least {LEAST}")
        if bool(self.epsilon) != bool(self.clip):
            raise InputError(f"defense.{name}", f"clip = {self.clip} and epsilon = {self.epsilon}", "both or neither")

    def upload(self, before: torch.Tensor, after: torch.Tensor, federation: FederationContext) -> torch.Tensor:
        """The parameters (D, P) with independent noise of each device."""
        noise = self._unit(federation, after.shape)
        if not self.epsilon:
            return after + self.noise * noise
        return before + self._clipped(after - before) + self._least(federation.rounds) * noise

    def _clipped(self, change: torch.Tensor) -> torch.Tensor:
        length = change.norm(self.order, dim=1, keepdim=True)
        return self.clip / length.clamp_min(self.clip) * change

    def _unit(self, federation: FederationContext, shape: tuple[int, ...]) -> torch.Tensor:
        """Noise of standard deviation 1."""
        return federation.randn(*shape)

    def _least(self, rounds: int) -> float:
        """The least standard deviation for (epsilon, delta) over so many uploads of a device."""
        return gaussian_deviation(self.epsilon, self.delta, rounds, 2 * self.clip)

    def spent(self, federation: FederationContext) -> dict[str, float]:
        """The privacy budget epsilon and delta, if there is a guarantee."""
        return {"epsilon": self.epsilon, "delta": self.delta} if self.epsilon else {}
