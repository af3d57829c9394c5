"""The contract of an attack: from what its threat model lets it see to a guess.

An attack is one file with one frozen dataclass. Its fields are its parameters. `sees` names the parts
of the transcript its adversary has; `infer` gets a view in which nothing else exists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..limits import Limits
from ..transcript import View

Guess = np.ndarray | Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Attack:
    """Base of all attacks."""

    protocols: ClassVar[set[str]] = {"vertical"}
    target: ClassVar[str] = "features"  # what is guessed: one of the protocol's `targets`
    sees: ClassVar[set[str]] = set()
    needs: ClassVar[set[str]] = set()  # keys a setup must have, e.g. {"sensitive"}
    classes: ClassVar[set[int]] = set()  # numbers of classes it is for; empty: any
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
