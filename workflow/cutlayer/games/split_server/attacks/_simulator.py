"""Building blocks of the Decoding Simulator Attack: shadow encoder, discriminator, and attribute decoder."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, softplus

from cutlayer.core.descent import descend
from cutlayer.core.devices import randn
from cutlayer.core.transcript import View
from cutlayer.games.attributes.decoder import Standardized, fresh, probabilities, seeded, shuffled_batches, tensor
from cutlayer.games.base.encoded import take
from cutlayer.games.base.snapshot import parsed


class Discriminator(nn.Module):
    """Discriminator of features (B, c, h, w): two convolutions, two residual blocks and a linear layer to a logit."""

    def __init__(self, shape: tuple[int, ...], wide: int) -> None:
        super().__init__()
        channels, height, width = shape
        self.first = nn.Conv2d(channels, wide, 3, stride=2, padding=1)
        self.second = nn.Conv2d(wide, wide, 3, stride=2, padding=1)
        self.blocks = nn.ModuleList([_Residual(wide), _Residual(wide)])
        self.last = nn.Linear(wide * math.ceil(height / 4) * math.ceil(width / 4), 1)

    def forward(self, features: Tensor) -> Tensor:
        hidden = torch.relu(self.second(torch.relu(self.first(features))))
        for block in self.blocks:
            hidden = block(hidden)
        return self.last(hidden.flatten(1))


class _Residual(nn.Module):
    def __init__(self, wide: int) -> None:
        super().__init__()
        self.first, self.second = (nn.Conv2d(wide, wide, 3, padding=1) for _ in range(2))

    def forward(self, hidden: Tensor) -> Tensor:
        return torch.relu(hidden + self.second(torch.relu(self.first(hidden))))


class Simulator:
    """The adversary's shadow encoder, discriminator and decoder, trained alongside the clients' training."""

    def __init__(self, view: View, rate: float, wide: int, standardized: bool = True) -> None:
        model, inputs = parsed(view.architecture)
        self.x = {name: t.to(view.device) for name, t in model.encode(view.inputs, inputs).items()}
        self.attribute, self.device = tensor(view.known_attribute, view.device), view.device
        with seeded(view.rng):
            self.shadow: nn.Module = model.bottom(inputs).to(view.device).train()
            self.discriminator = Standardized(Discriminator(view.intercepted.shape[2:], wide)).to(view.device)
        self.decoder = fresh(view)
        self.telling, self.deceiving, self.decoding = (
            torch.optim.Adam(network.parameters(), rate, fused=True)
            for network in (self.discriminator, self.shadow, self.decoder)
        )
        self.rng, self.noise, self.standardized = view.rng, float(view.noise), standardized
        self.generator = torch.Generator().manual_seed(int(view.rng.integers(2**63)))

    def attack_epoch(self, intercepted: Tensor, epochs: int, batch: int) -> np.ndarray:
        """Train on the features (m, c, h, w) intercepted in an epoch; return probabilities (m, values) for them."""
        if self.standardized:
            self.discriminator.adapt(intercepted)
            self.decoder.adapt(intercepted)
        for _ in range(epochs):
            for rows in shuffled_batches(np.arange(len(self.attribute)), batch, self.rng):
                self._step(rows, intercepted[torch.from_numpy(self.rng.integers(len(intercepted), size=len(rows)))])
        return probabilities(self.decoder, intercepted)

    def _step(self, rows: Tensor, real: Tensor) -> None:
        """One step of discriminator, encoder and decoder each; the decoder's loss does not train the encoder."""
        features = self.shadow(take(self.x, rows.numpy()))[1]
        sent = features
        if self.noise:
            sent = sent + self.noise * randn(tuple(features.shape), self.generator, self.device, features.dtype)
        fixed = sent.detach()
        descend(self.telling, softplus(-self.discriminator(real)).mean() + softplus(self.discriminator(fixed)).mean())
        descend(self.deceiving, softplus(-self.discriminator(sent)).mean())
        descend(self.decoding, cross_entropy(self.decoder(fixed, {}), self.attribute[rows]))
