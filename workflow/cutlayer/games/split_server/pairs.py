"""Pairs: two records, of which a fair coin says which one trains; the other is in no part of the training.

The first has one value of the attribute, the second the other, so that an attack that infers the attribute of the
record that trains infers a coin: what it finds can be held against any bound on the attribute, or on any two records.
No adversary knows the pairs. An auditor knows both records of each, and scores a pair by the log-likelihood ratio of
what was released for the one that trains, where it has Gaussian noise: a white box and no attack.

Steinke, Nasr, Jagielski, "Privacy Auditing with One (1) Training Run", whose coins say whether a row is trained on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.games.base.protocol import Task
from cutlayer.metrics import audit
from cutlayer.metrics.attributes import attribute_leak

SHARE = 0.2  # of the training rows, at most


@dataclass(frozen=True)
class Pairs:
    """The pairs of a training."""

    rows: np.ndarray  # (m, 2) of the table
    coins: np.ndarray  # (m,) int64: which of the two trains, and so its attribute

    def __len__(self) -> int:
        return len(self.coins)

    def applied(self, train: np.ndarray) -> np.ndarray:
        """The training rows (n - m,): first those of pairs that train, then those of no pair."""
        return np.concatenate([self.rows[np.arange(len(self)), self.coins], train[~np.isin(train, self.rows)]])


def tossed(task: Task, train: np.ndarray) -> Pairs:
    """Up to so many pairs (`pairs`) of the training rows (n,), no more than are intercepted; none by default.

    Raises:
        InputError: the attribute has not two values, or there are fewer than two pairs.

    """
    wanted, values = task.settings.get("pairs", 0), task.table.attributes[task.settings["sensitive"]]
    own = [train[values[train] == value] for value in (0, 1)]
    most = min(wanted, task.settings["records"]["attacked"], int(SHARE * len(train)), *map(len, own))
    if wanted and (values.max() > 1 or most < 2):
        raise InputError(f"run.{task.name}", f"has {most} pairs of rows", "more rows, and an attribute of two values")
    rows = np.stack([part[:most] for part in own], axis=1)
    return Pairs(rows, generator(task.origin, task.seed, "coins").integers(2, size=most))


def log_ratio(sent: np.ndarray, both: list[np.ndarray], deviation: float) -> np.ndarray:
    """Log-likelihood ratio (m,) of the second record to the first, of features (m, ...) with so much Gaussian noise.

    `both` are the features (m, ...) of either record without noise.
    """
    first, second = (part.astype(np.float64) for part in both)
    inner: np.ndarray = ((sent - (first + second) / 2) * (second - first)).reshape(len(sent), -1).sum(axis=1)
    return inner / deviation**2


def leak(guess: np.ndarray, coins: np.ndarray) -> dict[str, float]:
    """Leakage metrics of scores (q, 2), or (E, q, 2), of which the first m rows are of pairs with these coins (m,)."""
    own = guess[..., : len(coins), :]
    last = own[-1] if own.ndim == 3 else own
    return attribute_leak(own, coins) | audit.slack(len(coins)) | audit.guessed(last[:, 1], coins)
