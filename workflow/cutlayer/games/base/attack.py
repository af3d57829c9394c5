"""Base class of attacks: a function from the view that its threat model allows to a guess.

An attack is one file with one frozen dataclass that extends its game's base class (`games/<game>/attack.py`). Its
fields are its parameters. `sees` names the parts of the transcript that its adversary has; `infer` gets a view in which
nothing else exists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from cutlayer.core.errors import InputError
from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View

Guess = np.ndarray | Mapping[str, np.ndarray]


@dataclass(frozen=True)
class GuessSpec:
    """The shape and type that a guess is expected to have."""

    shape: tuple[int, ...]
    by_epoch: bool = False  # whether one such array for each epoch of the attack is allowed as well
    whole: bool = False  # whether it is a whole number
    abstains: bool = False  # whether a row may be NaN: not guessed
    known: str = ""  # the part of the view with the labels that the adversary knows, if there is one
    given: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=int))  # the rows of these labels

    def given_to(self, method: Attack) -> np.ndarray:
        """The rows whose labels this attack knows."""
        return self.given if self.known in method.sees else self.given[:0]


@dataclass(frozen=True)
class Attack:
    """An attack, whatever the threat model."""

    games: ClassVar[set[str]] = set()  # each game's base class declares its own
    target: ClassVar[str] = ""  # what it infers: one of the protocol's `targets`
    sees: ClassVar[set[str]] = set()  # of what the protocol `shows`
    knows: ClassVar[str] = ""  # for an adaptive adversary: what it knows of the defense; empty: nothing
    needs: ClassVar[set[str]] = set()  # keys a setup must have, e.g. {"sensitive"}
    classes: ClassVar[set[int]] = set()  # numbers of classes it is for; empty: any
    cheap: ClassVar[bool] = False  # milliseconds a case: the cheap attacks on a run share a job
    limits: ClassVar[Limits] = {}  # least and greatest value, None: any

    def chosen(self, cases: Sequence[Any]) -> Sequence[Any]:
        """The cases that it attacks: all, unless it is too slow for that."""
        return cases

    def skip(self, view: View) -> str:
        """Why the attack does not apply to this view, as a sentence; empty when it does."""
        return ""

    def infer(self, view: View) -> Guess:
        """The attack: from its view to a guess, which has the shape of the truth that it is compared with.

        Several guesses have names; each is scored, and its name is appended to the metric's. "" is the main one.
        """
        raise TypeError(f"attack.{type(self).__name__}: has no `infer`; every attack defines it")


def guessed(method: Attack, view: View, spec: GuessSpec) -> dict[str, np.ndarray]:
    """Run an attack and check its guesses, by name; "" is the main one.

    Raises:
        InputError: a guess is not of real numbers or has another shape than expected.

    """
    where = f"attack.{type(method).__module__.rpartition('.')[2]}"
    try:
        found = method.infer(view)
    except ValueError as error:
        if "read-only" in str(error):
            raise InputError(where, "infer changes an array that it sees", "expected a copy") from error
        raise
    guesses = dict(found) if isinstance(found, Mapping) else {"": found}
    if not guesses:
        raise InputError(where, "infer returned no guess", f"expected {_shapes(spec, 0)}")
    returned = {name: f"infer returned for {name!r}" if name else "infer returned" for name in guesses}
    return {name: _checked(where, returned[name], guess, spec) for name, guess in guesses.items()}


def _checked(where: str, returned: str, guess: Any, spec: GuessSpec) -> np.ndarray:
    if spec.whole and isinstance(guess, int | np.integer):
        guess = np.array(guess)
    if not isinstance(guess, np.ndarray):
        kind = "None" if guess is None else f"a {type(guess).__name__}"
        raise InputError(where, f"{returned} {kind}", f"expected an array of shape {_shapes(spec, 0)}")
    own = guess.shape[1:] if spec.by_epoch and guess.ndim > len(spec.shape) else guess.shape
    if own != spec.shape or not guess.size:
        wrong = f"{returned} an array of shape {guess.shape}"
        raise InputError(where, wrong, f"expected {_shapes(spec, guess.ndim)}")
    if guess.dtype.kind not in ("iu" if spec.whole else "biuf"):
        wanted = "a whole number" if spec.whole else "real numbers"
        raise InputError(where, f"{returned} an array of {guess.dtype}", f"expected {wanted}")
    if spec.whole:
        return guess
    real = guess if guess.dtype.kind == "f" else guess.astype(float)  # minus an unsigned number is none
    if not spec.abstains and not np.isfinite(real).all():
        raise InputError(where, f"{returned} a number that is not finite", "expected finite numbers")
    return real


def _shapes(spec: GuessSpec, dimensions: int) -> str:
    """The expected shape as text, for a guess with so many dimensions."""
    if spec.by_epoch and dimensions > len(spec.shape):
        return f"(epochs, {', '.join(map(str, spec.shape))})"
    return str(spec.shape)
