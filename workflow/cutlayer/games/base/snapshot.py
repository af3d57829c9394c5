"""Snapshot of a network in a transcript: its architecture as bytes of JSON, its parameters as one array."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import torch

from cutlayer.plan import plugins

from .encoded import parts
from .model import CutModel, Inputs


def architecture(model: Mapping[str, Any], inputs: Inputs) -> np.ndarray:
    """The architecture of a configured model, which the adversary knows, as bytes (n,)."""
    return np.frombuffer(json.dumps({"model": dict(model), "inputs": asdict(inputs)}).encode(), dtype=np.uint8)


def parsed(shape: np.ndarray) -> tuple[Any, Inputs]:
    """The model and the schema of its inputs, from the bytes made by `architecture`."""
    content = json.loads(bytes(shape))
    return plugins.create("model", *plugins.used(content["model"])), Inputs(**content["inputs"])


def flattened(network: torch.nn.Module) -> np.ndarray:
    """Parameters and running moments (P,) float32 of a network, in the order of its state."""
    return torch.cat([value.detach().float().flatten() for value in network.state_dict().values()]).cpu().numpy()


def filled(network: torch.nn.Module, values: np.ndarray) -> None:
    """Load `flattened` parameters and running moments (P,) into a network of the same architecture."""
    state, place = network.state_dict(), 0
    for name, value in state.items():
        part = torch.from_numpy(values[place : place + value.numel()].copy())
        state[name] = part.reshape(value.shape).to(value.dtype)
        place += value.numel()
    network.load_state_dict(state)


def rebuilt(shape: np.ndarray, values: np.ndarray) -> tuple[CutModel, Inputs, torch.nn.Module]:
    """The model, its inputs, and its bottom part, from the bytes of `architecture` and `flattened` parameters (P,)."""
    model, inputs = parsed(shape)
    with torch.random.fork_rng(devices=[]):
        bottom = model.bottom(inputs)
    filled(bottom, values)
    return model, inputs, bottom.eval()


@torch.no_grad()
def embedded(shape: np.ndarray, values: np.ndarray, features: np.ndarray, device: str = "cpu") -> np.ndarray:
    """Embeddings (n, d) float64 of rows of features (n, ...) by the bottom model of a snapshot."""
    model, inputs, bottom = rebuilt(shape, values)
    encoded = {name: t.to(device) for name, t in model.encode(features, inputs).items()}
    found = torch.cat([bottom.to(device)(part)[1] for part in parts(encoded, np.arange(len(features)))])
    return np.asarray(found.double().cpu().numpy())
