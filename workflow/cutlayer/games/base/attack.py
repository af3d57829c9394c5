"""What the contracts of all games' attacks share: from what its threat model lets an adversary see to a guess.

An attack is one file with one frozen dataclass that extends its game's contract (`games/<game>/attack.py`). Its fields
are its parameters. `sees` names the parts of the transcript its adversary has; `infer` gets a view in which nothing
else exists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View

Guess = np.ndarray | Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Attack:
    """Base of the games' contracts."""

    games: ClassVar[set[str]] = set()  # each game's contract says its own
    target: ClassVar[str] = ""  # what is guessed: one of the protocol's `targets`
    sees: ClassVar[set[str]] = set()  # of what the protocol `shows`
    needs: ClassVar[set[str]] = set()  # keys a setup must have, e.g. {"sensitive"}
    classes: ClassVar[set[int]] = set()  # numbers of classes it is for; empty: any
    cheap: ClassVar[bool] = False  # milliseconds a case: the cheap attacks on a run share a job
    limits: ClassVar[Limits] = {}  # least and greatest value, None: any

    def chosen(self, cases: Sequence[Any]) -> Sequence[Any]:
        """The cases it is tried on: all, unless it is too slow for that."""
        return cases

    def skip(self, view: View) -> str:
        """Why the attack does not apply to this view, as a sentence; empty when it does."""
        return ""

    def infer(self, view: View) -> Guess:
        """The guess; its shape is that of the truth it is compared with.

        Several guesses have names; each is measured, and its name is appended to the metric's. "" is the attack's own.
        """
        raise TypeError(f"attack.{type(self).__name__}: has no `infer`; every attack defines it")
