"""What contract tests ask of any method, and the sentence for who breaks it."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
import torch

from cutlayer.plan import plugins

DIFFER = "two {} of one seed differ: it keeps state in between, or has a generator of its own; draw with {}'s generator"


Setting = tuple[str, dict[str, Any]]  # a method's name and its parameters


def over(settings: list[Setting]) -> pytest.MarkDecorator:
    """Settings of defenses, each once; of those that differ only in numbers the least and the greatest."""
    similar: dict[Any, dict[str, tuple[list[float], Setting]]] = {}
    for name, own in settings:
        annotations = plugins.method("defense", name).parameters
        sizes = {key: value for key, value in sorted(own.items()) if annotations[key] in plugins.NUMBERS}
        others = {key: value for key, value in sorted(own.items()) if key not in sizes}
        title = ",".join([name, *(f"{key}={value}" for key, value in own.items())])
        similar.setdefault((name, *sizes, *others.items()), {})[title] = ([*sizes.values()], (name, own))
    ends: dict[str, Setting] = {}
    for group in similar.values():
        ordered = sorted(group, key=lambda title: group[title][0])
        ends |= {title: group[title][1] for title in (ordered[0], ordered[-1])}
    return pytest.mark.parametrize(("name", "parameters"), list(ends.values()), ids=list(ends))


@contextlib.contextmanager
def draws_with(given: str) -> Iterator[None]:
    """What is called within leaves the global generators where they are."""
    before = _states()
    yield
    for owner, state in _states().items():
        assert state == before[owner], f"draws from {owner}'s global generator; draw with the {given}'s generator"


def _states() -> dict[str, Any]:
    own = np.random.get_state(legacy=False)["state"]  # noqa: NPY002
    numpy = own["key"].tobytes(), own["pos"]
    return {"torch": torch.random.get_rng_state().tolist(), "numpy": numpy, "Python": random.getstate()}


def alike(first: Any, second: Any) -> bool:
    """Whether two results are the same numbers, NaN where the other one is."""
    if isinstance(first, Mapping):
        return first.keys() == second.keys() and all(alike(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(alike, first, second))
    return np.array_equal(np.asarray(first), np.asarray(second), equal_nan=True)


def near(found: Any, expected: Any, rtol: float = 0.0, atol: float = 0.0) -> bool:
    """Whether two results are the same numbers to within so much."""
    parts = (part.detach() if isinstance(part, torch.Tensor) else part for part in (found, expected))
    return bool(np.allclose(*map(np.asarray, parts), rtol=rtol, atol=atol))
