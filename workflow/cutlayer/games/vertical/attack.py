"""Base class of feature inference in vertical federated learning: the active party infers the passive one's features.

What it may name in `sees`, of N predictions with k classes, d passive and a active features:

- `scores` (N, k): the confidence scores that were revealed; under some defenses they are no probabilities, and whoever
  takes logarithms clamps them first
- `active_features` (N, a), `active_weights` (k, a): its own side
- `own_features` (n, a), `own_labels` (n,): its own side of the n training rows, and their labels 0..k-1
- `passive_weights` (k, d), `bias` (k,): the published part of the model
- `passive` (d,): which columns are the passive party's
- `defense` (n,): the defense's method and parameters, which are public; parsed by `base.defense.description`

`infer` returns the features (N, d), in [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cutlayer.games.base import attack as base


@dataclass(frozen=True)
class Attack(base.Attack):
    """A feature inference attack on prediction scores."""

    games: ClassVar[set[str]] = {"vertical"}
    target: ClassVar[str] = "features"
