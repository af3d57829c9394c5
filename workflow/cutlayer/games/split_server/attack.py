"""Base class of attribute inference by a split-learning server: it infers a sensitive attribute of the clients' rows.

What it may name in `sees`, with E epochs:

- `values` (): how many values the attribute has; `architecture`: the models' shapes, see `games/base/snapshot.py`
- `inputs` (n, ...), `known_attribute` (n,): its auxiliary rows
- `known` (n, ...), `attacked` (q, ...): features of auxiliary and test rows from the trained encoder
- `known_mean` (n, ...), `attacked_mean` (q, ...): the means of their releases, if each of them has several, with fresh
  noise each time
- `intercepted` (E, q, ...): features of training rows after every epoch
- `noise` (): the standard deviation of the noise on them, which the clients announce; 0: none
- `poison` (E, p, ...), `poison_attribute` (p,): features after every epoch and attribute of its own training rows
- `encoder` (E, P): the encoder after every epoch, for an adversary who is also a client
- `defense` (b,): the clients' method and its parameters, see `described`

`infer` returns probabilities of the values (q, values), or (E, q, values), for the target "attribute" of the attacked
rows, for "training_attribute" of the intercepted ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cutlayer.games.base import attack as base


@dataclass(frozen=True)
class Attack(base.Attack):
    """An attribute inference attack on released features."""

    games: ClassVar[set[str]] = {"split_server"}
    target: ClassVar[str] = "attribute"
