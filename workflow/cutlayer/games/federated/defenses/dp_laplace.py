"""dp_laplace: adds Laplace noise to every parameter that a device uploads.

`noise` is its standard deviation, as for dp_gaussian: the scale is noise / sqrt(2). All else is as there, except that
the L1 norm is clipped, and that the noise for (epsilon, delta) is that of the Laplace mechanism composed with itself,
by its privacy loss distribution, to the accuracy of the accountant's grid, which errs towards more noise. A change in
many parameters reveals no more than the same L1 norm in one.

Arroyo Arevalo et al., "Task-Agnostic Privacy-Preserving Representation Learning for Federated Learning Against
Attribute Inference Attacks", Results; Dwork, McSherry, Nissim, Smith, "Calibrating Noise to Sensitivity in Private Data
Analysis"; Doroshenko et al., "Connect the Dots: Tighter Discrete Approximations of Privacy Loss Distributions".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch

from cutlayer.games.federated.defense import FederationContext
from cutlayer.theory.accounting import laplace_deviation

from .dp_gaussian import DPGaussian


@dataclass(frozen=True)
class DPLaplace(DPGaussian):
    """Laplace noise on uploads, of a given strength or with device-level (epsilon, delta)-differential privacy."""

    order: ClassVar[int] = 1  # of the norm that is clipped

    def _unit(self, federation: FederationContext, shape: tuple[int, ...]) -> torch.Tensor:
        """Laplace noise of standard deviation 1: a scaled difference of two finite exponential variables."""
        first, second = ((-federation.rand(*shape)).log1p() for _ in range(2))
        return (first - second) / math.sqrt(2)

    def _least(self, rounds: int) -> float:
        """The least standard deviation for (epsilon, delta) over so many uploads of a device."""
        return 2 * self.clip * laplace_deviation(self.epsilon, self.delta, rounds)
