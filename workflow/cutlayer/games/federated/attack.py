"""Base class of attribute inference in federated learning: from representations of the shared extractor.

What it may name in `sees`:

- `values` (): how many values the attribute has; `architecture`: the networks' shapes, see `games/base/snapshot.py`
- `inputs` (n, ...), `known_attribute` (n,): rows whose attribute it knows
- `known` (n, ...), `attacked` (q, ...): representations of these and of the rows whose attribute it is to infer
- `known_mean`, `attacked_mean`: the means of several of each, if representations are random; here none is
- `inner` (M, P): the devices' own attribute inference networks; one device's (P,) for the target
  "attribute_by_device"

`infer` returns probabilities of the values (q, values).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cutlayer.games.base import attack as base


@dataclass(frozen=True)
class Attack(base.Attack):
    """An attribute inference attack on representations."""

    games: ClassVar[set[str]] = {"federated"}
    target: ClassVar[str] = "attribute"
