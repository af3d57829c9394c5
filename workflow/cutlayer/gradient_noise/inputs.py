"""Checks of the problem's inputs."""

from __future__ import annotations

import math
from numbers import Integral

from cutlayer.core.errors import InputError

# The least positive input by the greatest: beyond, intermediate results leave the range of floats.
SPAN = 1e-150


def check(where: str, dim: int, fraction: float, **numbers: float) -> None:
    """Raise an InputError unless the inputs define a problem."""
    if not (type(dim) is int or isinstance(dim, Integral)) or dim < 1:
        raise InputError(f"gradient_noise.{where}", f"dim = {dim!r}", "an integer that is at least 1")
    if not 0 <= fraction <= 1:
        raise InputError(f"gradient_noise.{where}", f"positive_fraction = {fraction!r}", "a number from 0 to 1")
    least = SPAN * max(numbers.values())
    for value in numbers.values():
        if not (least <= value < math.inf or value == 0):
            _refuse(where, numbers)


def _refuse(where: str, numbers: dict[str, float]) -> None:
    for name, value in numbers.items():
        if not 0 <= value < math.inf:
            raise InputError(f"gradient_noise.{where}", f"{name} = {value!r}", "a finite number that is at least 0")
    positive = [value for value in numbers.values() if value > 0]
    wrong = f"{min(positive)!r} and {max(positive)!r} are too far apart"
    raise InputError(f"gradient_noise.{where}", wrong, f"a ratio of {SPAN:g} is allowed, or 0")
