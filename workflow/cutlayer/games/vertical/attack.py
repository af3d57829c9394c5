"""The contract of an attack of the vertical game: the active party guesses the passive party's features.

What it may name in `sees`, of N predictions with k classes, d passive and a active features:

- `scores` (N, k): the confidence scores that were revealed
- `active_features` (N, a), `active_weights` (k, a): its own side
- `passive_weights` (k, d), `bias` (k,): what was published of the model
- `passive` (d,): which columns are the passive party's
- `defense` (n,): which method protects and its parameters, which are no secret; `base.defense.description` reads it

`infer` returns the features (N, d), in [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cutlayer.games.base import attack as base


@dataclass(frozen=True)
class Attack(base.Attack):
    """What guesses features."""

    games: ClassVar[set[str]] = {"vertical"}
    target: ClassVar[str] = "features"
