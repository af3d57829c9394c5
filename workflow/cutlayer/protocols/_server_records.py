"""What is kept of a training in the protocol `split_server`, as far as an adversary makes use of it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from .. import plugins
from ..models.base import Inputs, Model


def drawn(architecture: np.ndarray) -> tuple[Model, Inputs]:
    """(model, inputs) from the bytes that `_split_records.architecture` made."""
    content: dict[str, Any] = json.loads(bytes(architecture))
    options = dict(content["model"])
    return plugins.create("model", options.pop("use"), options), Inputs(**content["inputs"])
