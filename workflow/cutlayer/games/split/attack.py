"""Base class of label inference attacks in split learning: the feature party infers the labels.

What it may name in `sees`. Of one recorded batch of B examples:

- `gradients` (B, d): as returned at the cut
- `embeddings` (B, d): as it sent them
- `first_gradients` (B, e): what the gradients become at its first layer, where the setup records them
- `last_inputs` (B, q), `last_gradient` (d, q + 1): what enters the last linear layer of its bottom model, and the
  gradient of the mean loss by that layer's weights and bias, where the setup records them
- `hints` (h,): places of positives that it knows

Of W records of its own that it tracks across E epochs, see `tracked.py`:

- `watched_gradients` (E, W, d), `watched_steps` (E, W): their gradients, over the root mean square of their batch, and
  the number of that batch
- `bottom` (P,), `architecture`: its trained bottom model
- `watched_features` (W, ...); `known_labels` (m,) are those of the first m
- `prior` (classes,): the shares of the classes among the training rows
- `batch_means` (T, d), `batch_squares` (T,): the mean gradient and mean square of each batch

Of the training as a whole:

- `bottom` (P,), `architecture`: its trained bottom model, see `games/base/snapshot.py`
- `features` (n, ...): rows of its own; `known` (m,), `known_labels` (m,): those whose labels it knows
- `attacked` (q,): the rows whose labels it is to infer
- `classes` (): how many there are; `outputs` (): how many the label party trains on, a parameter of its defense

`infer` returns for the target "labels" a score for each example (B,); for "watched" a score for each tracked record
(W,), or class probabilities (W, classes) if there are more than two classes; for "population" class probabilities
(q, classes), or (epochs, q, classes); for "dimension" the number of classes that are trained on.

For "labels" and "watched" a row may be NaN: it is not guessed. It is left out if the attack sees the row's label, in
`hints` or `known_labels`. Any other counts as a random guess: it ties with all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cutlayer.games.base import attack as base


@dataclass(frozen=True)
class Attack(base.Attack):
    """A label inference attack by the feature party."""

    games: ClassVar[set[str]] = {"split"}
    target: ClassVar[str] = "labels"
