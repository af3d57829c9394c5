"""stale: infers the attribute by the network that a device trained alongside the extractor, as the paper evaluates it.

A device's g_Psi learned to predict the attribute while the extractor changed, and never sees the final one. How stale
it is depends on who trains in a round. Where every device does (`participants: averaged`), it is of the last round,
before the server averages the extractors for the last time. Where only the selected ones do, it is of the last round in
which its device was selected, so that most have missed several rounds; devices that were never selected have none. An
adversary who is trained on the final extractor (see `retrained`) can infer what it fails to infer. Each device is an
adversary of its own; tables show their mean, the paper's "average attribute inference accuracy of all devices".

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
    """A device's own attribute inference network, after the training."""

    target: ClassVar[str] = "attribute_by_device"
    sees: ClassVar[set[str]] = {"attacked", "inner", "values", "architecture"}
    limits: ClassVar[Limits] = {"devices": (0, None)}

    devices: int = 0  # how many devices attack, the first ones; 0: all that trained

    def chosen(self, cases: Sequence[Any]) -> Sequence[Any]:
        """The first devices: a random sample, as devices are exchangeable before the training."""
        return cases[: self.devices or len(cases)]

    def skip(self, view: View) -> str:
        """Needs a defense whose devices train such a network."""
        return "" if "inner" in view else "for defenses whose devices train a network that predicts the attribute"

    def infer(self, view: View) -> np.ndarray:
        """Probabilities (m, values) float64 of the attribute of attacked rows."""
        network = fresh(view)
        filled(network.network, view.inner)
        return probabilities(network.eval(), tensor(view.attacked, view.device))
