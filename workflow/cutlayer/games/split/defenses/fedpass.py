"""fedpass: a layer in front of the top model whose scale and shift are functions of secret keys.

Of embeddings h the layer makes y = gamma o (V h) + beta, then a ReLU. gamma = tanh(f(V s)) and beta = tanh(f(V s')),
where s and s' are the label party's keys, drawn once before the training, and f(.) = decoder(LeakyReLU(encoder(.)))
narrows to a quarter of the width.

As in the code of SecretFlow: keys N(-1, 1), a tanh on both, no biases. `keys: uniform` are U(-1, 1), as in that of
Kang et al.; both learn V, encoder and decoder with the top model.

Secrets change the Jacobian of the top and not the sign of p - t, so that a row's gradients leak as without it
(`repeated`); `exploit` fits a top of its own.

Gu, Luo, Kang, Fan, Yang, "FedPass: Privacy-Preserving Vertical Federated Deep Learning with Adaptive Obfuscation", of
which only the abstract and code were read. Its theorems on features and labels were not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from cutlayer.games.split.defense import Defense, Training


@dataclass(frozen=True)
class FedPass(Defense):
    """Adaptive obfuscation of the top model by passports."""

    keys: Literal["normal", "uniform"] = "normal"

    def top(self, module: nn.Module, width: int, training: Training) -> nn.Module:
        """The top model behind a layer with passports."""
        keys = training.randn(2, width) - 1 if self.keys == "normal" else 2 * training.rand(2, width) - 1
        return Passport(module, keys)


class Passport(nn.Module):
    """A linear layer, scaled and shifted by functions of two keys (2, d), in front of a top model."""

    keys: Tensor

    def __init__(self, module: nn.Module, keys: Tensor) -> None:
        super().__init__()
        width = keys.shape[1]
        narrow = max(1, width // 4)
        self.module = module
        self.register_buffer("keys", keys)
        self.layer = nn.Linear(width, width, bias=False)
        self.of_keys = nn.Sequential(
            nn.Linear(width, narrow, bias=False), nn.LeakyReLU(), nn.Linear(narrow, width, bias=False), nn.Tanh()
        )

    def forward(self, sent: Tensor, x: dict[str, Tensor]) -> Tensor:
        """Logits (B, outputs)."""
        scale, shift = self.of_keys(self.layer(self.keys))
        return self.module(torch.relu(scale * self.layer(sent) + shift), x)
