"""stale: ask the network that a device trained beside the extractor what attribute a representation has.

A device's g_Psi learned to predict the attribute while the extractor changed under it; it has last seen the extractor
as that was in the last round in which the device took part. So it is weaker than an adversary who is trained on the
extractor as it is now (see `retrained`), and what it fails to infer need not be gone. Every device is an adversary of
its own; tables show their mean, the paper's "average attribute inference accuracy of all devices".

Arroyo Arevalo, Noorbakhsh, Dong, Hong, Wang, "Task-Agnostic Privacy-Preserving Representation Learning for Federated
Learning Against Attribute Inference Attacks", table 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.attributes.decoder import fresh, probabilities, tensor
from cutlayer.games.base.snapshot import filled
from cutlayer.games.federated.attack import Attack


@dataclass(frozen=True)
class Stale(Attack):
    """A device's own inference network, as it is after the training."""

    target: ClassVar[str] = "attribute_by_device"
    sees: ClassVar[set[str]] = {"attacked", "inner", "values", "architecture"}
    limits: ClassVar[Limits] = {"devices": (0, None)}

    devices: int = 0  # how many devices are asked, the first ones; 0: all that took part

    def chosen(self, cases: Sequence[Any]) -> Sequence[Any]:
        """Devices are alike before the training, so that the first ones are a random draw."""
        return cases[: self.devices or len(cases)]

    def skip(self, view: View) -> str:
        """Most defenses train no such network."""
        return "" if "inner" in view else "for defenses whose devices train a network that predicts the attribute"

    def infer(self, view: View) -> np.ndarray:
        """(m, values) float64 probabilities of the attacked rows' values."""
        network = fresh(view)
        filled(network.network, view.inner)
        return probabilities(network.eval(), tensor(view.attacked, view.device))
