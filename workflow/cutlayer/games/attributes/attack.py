"""Base class of attribute inference from features of known and attacked rows, in split and federated learning.

It may name in `sees` what `games/split_server/attack.py` and `games/federated/attack.py` both list: `values`,
`architecture`, `inputs`, `known_attribute`, `known`, `attacked`, `known_mean`, `attacked_mean`. `infer` returns
probabilities of the values (q, values).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cutlayer.games.base import attack as base


@dataclass(frozen=True)
class Attack(base.Attack):
    """An attribute inference attack on features, whoever released them."""

    games: ClassVar[set[str]] = {"split_server", "federated"}
    target: ClassVar[str] = "attribute"
