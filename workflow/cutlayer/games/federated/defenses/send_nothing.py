"""send_nothing: devices upload nothing, so that the server's extractor stays as it was drawn, before pre-training too.

The floor of every trade-off between utility and the leak of an attribute from representations: what a task's classifier
learns from random features, and what these leak. Training an extractor is worth what it adds to that.

Ours, as a baseline; no paper reports it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cutlayer.games.federated.defense import Defense


@dataclass(frozen=True)
class SendNothing(Defense):
    """No training; no hyperparameters."""

    @property
    def roles(self) -> Mapping[str, float]:
        """No network."""
        return {}
