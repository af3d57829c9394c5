"""Made-up people for attacks on attributes, and parts of a small model of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import nn

from cutlayer.games.base.model import Inputs, Model
from cutlayer.plan import plugins


class Bottom(nn.Module):
    """Layers from a model's inputs to its features."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        features = self.layers(x["x"])
        return features, features


class Top(nn.Module):
    """Layers on features, as models' parts are called."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, features: torch.Tensor, x: dict[str, torch.Tensor]) -> torch.Tensor:
        assert x == {}
        return self.layers(features)


@dataclass(frozen=True)
class Layered(Model):
    """A model whose inputs are the features as they are."""

    def encode(self, features: np.ndarray, inputs: Inputs) -> dict[str, torch.Tensor]:
        return {"x": torch.from_numpy(features.astype(np.float32))}


def named_small(monkeypatch: pytest.MonkeyPatch, model: Model) -> None:
    """`plugins.create` gives this model under the name `small`."""
    create = plugins.create
    monkeypatch.setattr(
        plugins, "create", lambda kind, name, own=None: model if name == "small" else create(kind, name, own)
    )


def people(
    kind: str, values: int, rows: int, rng: np.random.Generator, carried: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Inputs, and an attribute that they show, or do not: most rows have its first value."""
    rates = np.array([0.65, 0.35] if values == 2 else [0.5, 0.3, 0.2])
    attribute = rng.choice(values, rows, p=rates)
    shown = attribute if carried else rng.choice(values, rows, p=rates)
    if kind == "table":
        x = rng.standard_normal((rows, 6))
        x[:, :values] += 4 * np.eye(values)[shown]
        return x, attribute
    x = rng.random((rows, 1, 8, 8))
    x[shown == 1, :, :, :3] += 2  # a bright bar
    return x, attribute
