"""The GPU's plumbing: who gets one, equal random numbers, everything moved once and nothing in between.

A machine without a GPU checks it on torch's `meta` device, which has shapes and no numbers: an operation that mixes it
with the CPU is what would be a silent copy on a GPU.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from cutlayer.core import devices
from cutlayer.core.seeds import generator
from cutlayer.core.transcript import View
from cutlayer.games.base.protocol import Task
from cutlayer.games.vertical.models.logistic_regression import _Stack
from cutlayer.plan import plugins

TOLERANCE = 1e-6  # between CPU and GPU, absolute, in float64


class Mixed(TorchDispatchMode):
    """Records the operations whose tensors are on more than one device."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        places = {t.device.type for t in tree_leaves((args, kwargs, result)) if isinstance(t, torch.Tensor)}
        self.found += [str(func)] if len(places) > 1 else []
        return result


def data(rows: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = generator("devices")
    return rng.random((rows, 4)), rng.integers(0, 3, rows), np.ones((2, 4)), np.zeros((2, 4))


def test_without_a_grant_the_cpu_is_taken(monkeypatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert devices.granted(0) == "cpu"


def test_a_granted_gpu_is_taken_and_said(monkeypatch, capsys) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda index: "a GPU")
    assert devices.granted(1) == "cuda"
    assert "device: a GPU" in capsys.readouterr().err


def test_what_is_seeded_is_as_torch_seeds_it_and_later_draws_do_not_change() -> None:
    torch.manual_seed(2**63 - 5)
    expected = torch.nn.Linear(3, 2).weight
    torch.manual_seed(1)
    later = torch.rand(4)
    torch.manual_seed(1)
    with devices.seeded(2**63 - 5):
        found = torch.nn.Linear(3, 2).weight
    assert torch.equal(found, expected)
    assert torch.equal(torch.rand(4), later)


def test_a_grant_that_torch_cannot_use_is_said(monkeypatch, capsys) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert devices.granted(1) == "cpu"
    assert "a GPU was granted, but torch finds none" in capsys.readouterr().err


def test_random_numbers_do_not_depend_on_the_device() -> None:
    here, there = (torch.Generator().manual_seed(3) for _ in range(2))
    devices.randn((5,), here, "cpu", torch.float64)
    assert devices.randn((5,), there, "meta", torch.float64).device.type == "meta"
    assert torch.equal(torch.randn(3, generator=here), torch.randn(3, generator=there))


@pytest.mark.parametrize("rows_on", ["meta", "cpu"])
def test_a_training_step_stays_on_its_device(rows_on: str) -> None:
    X, y, scale, shift = data()
    stack = _Stack(X, y, 3, scale, shift, 0.1, torch.Generator().manual_seed(0), "meta")
    optimizer = torch.optim.Adam(stack.parameters)
    rows = torch.randperm(len(X)).to(rows_on)
    with Mixed() as mixed:
        for _ in range(2):
            optimizer.zero_grad()
            stack.losses(rows).sum().backward()
            optimizer.step()
    assert bool(mixed.found) == (rows_on == "cpu")  # the check itself sees a copy when there is one


def test_the_device_reaches_model_and_attack(monkeypatch) -> None:
    table = plugins.create("dataset", "wine").load({})
    settings = {
        "protocol": "vertical", "fit_on": "all", "model": {"use": "logistic_regression", "epochs": 1},
        "predictions": 5, "kl_predictions": 5, "windows": {"sizes": [1], "starts": 1},
    }  # fmt: skip
    seen = []
    model = plugins.create("model", "logistic_regression")
    monkeypatch.setattr(
        type(model), "fit", lambda self, *given: seen.append(given[-1]) or (np.ones((1, 3, 13)), np.ones((1, 3)))
    )
    task = Task(
        "wine", "none", 0, table, settings, {"": plugins.create("defense", "none", game="vertical")}, device="cuda"
    )
    plugins.create("protocol", "vertical").run(task)
    assert seen == ["cuda"]
    assert View("rcc2", {"scores"}, {}, generator("view"), "cuda").device == "cuda"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no GPU here")
def test_cpu_and_gpu_agree() -> None:
    model = plugins.create("model", "logistic_regression", {"epochs": 30})
    X, y, scale, shift = data(2000)
    here, there = (model.fit(X, y, 3, scale, shift, 0, "here", device) for device in ("cpu", "cuda"))
    for one, other in zip(here, there, strict=True):
        np.testing.assert_allclose(one, other, atol=TOLERANCE, rtol=0)
