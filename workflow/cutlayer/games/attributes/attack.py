"""The contract of an attack that needs no more of its game than features of known and of attacked rows.

What it may name in `sees` is what `games/split_server/attack.py` and `games/federated/attack.py` both list: `values`,
`architecture`, `inputs`, `known_attribute`, `known`, `attacked`, `known_mean`, `attacked_mean`. `infer` returns
probabilities of the values (q, values).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cutlayer.games.base import attack as base


@dataclass(frozen=True)
class Attack(base.Attack):
    """What guesses an attribute, whoever sent the features."""

    games: ClassVar[set[str]] = {"split_server", "federated"}
    target: ClassVar[str] = "attribute"
