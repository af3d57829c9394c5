"""Base class of defenses: hooks that a protocol calls, and the check of what they return.

A defense is one file with one frozen dataclass that extends its game's base class (`games/<game>/defense.py`). Its
fields are its parameters; its public methods are hooks that the game's protocol calls, each of which does nothing
unless the defense overrides it. What a hook returns is checked here, whatever the defense.
"""

from __future__ import annotations

import functools
import inspect
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from cutlayer.core.errors import InputError
from cutlayer.core.limits import Limits

Hook = TypeVar("Hook", bound=Callable[..., Any])
Check = Callable[..., None]


def returns(check: Check) -> Callable[[Hook], Hook]:
    """Decorator of a base class's hook: whatever an override returns is checked.

    The call is `check(name, result, defense, *arguments)`: `name` is the one in errors, e.g. "defense.marvell"; the
    arguments are those of the hook.
    """

    def marked(hook: Hook) -> Hook:
        hook.check = check  # type: ignore[attr-defined]
        return hook

    return marked


@dataclass(frozen=True)
class Defense:
    """A defense, whatever the threat model."""

    games: ClassVar[set[str]] = set()  # each game's base class declares its own
    needs: ClassVar[set[str]] = set()  # keys a setup must have, e.g. {"sensitive"}
    classes: ClassVar[set[int]] = set()  # numbers of classes it is for; empty: any
    limits: ClassVar[Limits] = {}
    about: ClassVar[str] = ""  # the neighboring relation of its `auc_bound`: a label, a class or a row is replaced
    strength: ClassVar[str] = ""  # the parameter that trades utility for privacy: the more of it, the less leaks
    strengths: ClassVar[tuple[float, float]] = (0.0, 0.0)  # its least and greatest value worth a try

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, own in list(vars(cls).items()):
            check = next((found for base in cls.__mro__[1:] if (found := _check_of(base, name))), None)
            if check:
                setattr(cls, name, _checked(own, check, f"defense.{cls.__module__.rpartition('.')[2]}"))


def described(defense: Defense) -> np.ndarray:
    """A defense's method and parameters, which are public, as the bytes (n,) of a JSON text."""
    text = json.dumps({"use": type(defense).__module__.rpartition(".")[2], "parameters": asdict(defense)})
    return np.frombuffer(text.encode(), dtype=np.uint8)


def description(text: np.ndarray) -> tuple[str, dict[str, Any]]:
    """The method's name and its parameters, from the text made by `described`."""
    content = json.loads(bytes(text))
    return content["use"], content["parameters"]


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.setflags(write=False)
    return view


def _check_of(base: type, hook: str) -> Check | None:
    return getattr(vars(base).get(hook), "check", None)


def _checked(hook: Callable[..., Any], check: Check, name: str) -> Callable[..., Any]:
    """The hook, with a check of what it returns and that it changes none of its arguments in place."""
    tensor = getattr(sys.modules.get("torch"), "Tensor", ())  # a game without tensors does not import torch

    @functools.wraps(hook)
    def checked(self: Defense, *arguments: Any) -> Any:
        before = [each._version for each in arguments if isinstance(each, tensor)]  # counts changes in place
        try:
            result = hook(self, *[_read_only(each) if isinstance(each, np.ndarray) else each for each in arguments])
        except ValueError as error:
            if "read-only" in str(error):
                wrong = f"{hook.__name__} changes an array it was given"
                raise InputError(name, wrong, "expected a new array") from error
            raise
        if before != [each._version for each in arguments if isinstance(each, tensor)]:
            parameter = _changed(hook, arguments, before)
            raise InputError(name, f"{hook.__name__} changed the {parameter} it was given", "expected a new tensor")
        check(name, result, self, *arguments)
        return result

    return checked


def _changed(hook: Callable[..., Any], arguments: Sequence[Any], before: Sequence[int]) -> str:
    """The name of the first tensor argument that was changed in place."""
    named = zip([*inspect.signature(hook).parameters][1:], arguments, strict=False)
    tensors = [(parameter, each) for parameter, each in named if hasattr(each, "_version")]
    pairs = zip(tensors, before, strict=True)
    return next(parameter for (parameter, each), version in pairs if each._version != version)
