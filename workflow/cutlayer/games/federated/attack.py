"""The contract of an attack of the federated game: who has the extractor guesses a sensitive attribute.

What it may name in `sees`:

- `values` (): how many values the attribute has; `architecture`: the networks' shapes, see `games/base/snapshot.py`
- `inputs` (n, ...), `known_attribute` (n,): rows whose attribute it knows
- `known` (n, ...), `attacked` (q, ...): representations of these and of the rows it is asked about
- `known_mean`, `attacked_mean`: the means of several of each, if a representation is another each time; here none is
- `inner` (M, P): the networks by which M devices guess the attribute themselves; one device's (P,) for the target
  "attribute_by_device"

`infer` returns probabilities of the values (q, values).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cutlayer.games.base import attack as base


@dataclass(frozen=True)
class Attack(base.Attack):
    """What guesses an attribute from representations."""

    games: ClassVar[set[str]] = {"federated"}
    target: ClassVar[str] = "attribute"
