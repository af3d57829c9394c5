"""Features of an adversarial client's own rows, by the encoder of each epoch."""

from __future__ import annotations

import numpy as np
import torch

from cutlayer.core.transcript import View
from cutlayer.games.base.defense import description
from cutlayer.games.base.encoded import parts
from cutlayer.games.base.snapshot import filled, parsed
from cutlayer.games.split_server.defense import Defense
from cutlayer.plan import plugins


def encoded(view: View, most: int) -> np.ndarray:
    """Noiseless features (E, n, ...) float32 of the first `most` auxiliary rows, by the encoder after each epoch."""
    use, parameters = description(view.defense)
    defense: Defense = plugins.create("defense", use, parameters, "split_server")
    model, inputs = parsed(view.architecture)
    own = view.inputs[:most]
    rows, places = model.encode(own, inputs), np.arange(len(own))
    with torch.random.fork_rng(devices=[]):
        bottom = model.bottom(inputs).eval()
    found = []
    for values in view.encoder:
        filled(bottom, values)
        with torch.no_grad():
            features = torch.cat([bottom(part)[1] for part in parts(rows, places)])
            found.append(defense.release(features).numpy())
    return np.stack(found)
