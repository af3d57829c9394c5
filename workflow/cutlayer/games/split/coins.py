"""Coins: fair random labels that training rows get in place of their own, so that features say nothing of them.

What an attack infers of a coin is inferred from what was sent, and can be held against any bound on it. The adversary
does not know which rows have coins. They are none of those whose labels it knows, nor of those that are tested on.

Steinke, Nasr, Jagielski, "Privacy Auditing with One (1) Training Run", whose coins say whether a row is trained on.
"""

from __future__ import annotations

import numpy as np

from cutlayer.core.seeds import generator
from cutlayer.games.base.protocol import Task

SHARE = 0.2  # of the training rows, at most: with more the model is another one
NONE = -1  # in place of a coin


def tossed(task: Task, rows: int, tracked: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The coin (n,) int64 of each of so many training rows, NONE where there is none.

    With `coins: all` every row has one, else up to so many tracked records, and at most a SHARE of the rows. `tracked`
    (W,) and `known` are places among the rows.
    """
    wanted = task.settings.get("coins", 0)
    unknown = tracked[~np.isin(tracked, known)]
    places = np.arange(rows) if wanted == "all" else unknown[: min(wanted, int(SHARE * rows))]
    found = np.full(rows, NONE)
    found[places] = generator(task.origin, task.seed, "coins").integers(task.table.classes, size=len(places))
    return found


def audited(coins: np.ndarray) -> dict[str, np.ndarray]:
    """Truth of an audit from the coins (W,) of tracked records: `coins` (m,) int8, their `coin_places` (m,)."""
    places = np.flatnonzero(coins != NONE)
    return {"coins": coins[places].astype(np.int8), "coin_places": places} if len(places) else {}
