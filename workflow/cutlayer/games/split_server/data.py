"""The data of split learning with an untrusted server: training, test and auxiliary rows, and the poison rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from cutlayer.core.errors import InputError
from cutlayer.core.seeds import seed_of
from cutlayer.games.attributes.data import AttributeData, common, rows_of, shuffled
from cutlayer.games.base.encoded import EncodedOnce
from cutlayer.games.base.protocol import Task

from .pairs import Pairs, tossed

PARTS = (4, 1, 2)  # training : test : auxiliary, as in the paper


@dataclass(frozen=True, kw_only=True)
class ServerData(AttributeData, EncodedOnce):
    """Data and encoded rows of the clients and the adversary; among the training rows the poison rows are last."""

    known: np.ndarray  # the auxiliary rows
    poison: np.ndarray  # (p,) the adversary's own training rows, taken from the auxiliary rows
    pairs: Pairs  # of an audit, see `pairs`; their rows that train are the first ones

    def batches(self, task: Task, epoch: int) -> list[torch.Tensor]:
        """Shuffled batches (B,) of places among the training rows, all of one size; the remainder is dropped."""
        order = torch.Generator().manual_seed(seed_of(task.origin, task.seed, "order", epoch))
        size = min(task.settings["batch"], len(self.train))
        shuffled = torch.randperm(len(self.train), generator=order).to(self.device)
        return [batch for batch in shuffled.split(size) if len(batch) == size]


def prepared(task: Task) -> ServerData:
    """Split the rows 4 : 1 : 2; `poison` is the adversary's share of the training rows."""
    train, test, known = _parts(task)
    share = task.settings.get("poison", 0.0)
    poison = known[: round(share / (1 - share) * len(train))]
    fields, pairs = common(task, np.concatenate([train, poison]), test), tossed(task, train)
    fields["train"] = np.concatenate([pairs.applied(train), poison])  # statistics of inputs are of all
    return ServerData(**fields, known=known, poison=poison, pairs=pairs)


def _parts(task: Task) -> list[np.ndarray]:
    """Training, test and auxiliary rows, at random or by the setup's `partition`."""
    if "partition" in task.settings:
        return _partition(task)
    rows = rows_of(task)
    return np.split(rows, _ends(len(rows))[:-1])


def _partition(task: Task) -> list[np.ndarray]:
    """Training, test and auxiliary rows, where an attribute of 1 or more marks the test rows.

    If there are too few of either kind, fewer rows are used.

    Raises:
        InputError: a kind is missing.

    """
    name = task.settings["partition"]
    rows = shuffled(task)
    out = task.table.attributes[name][rows] > 0
    own, tested = rows[~out], rows[out]
    if not len(own) or not len(tested):
        raise InputError(f"run.{task.name}", f"has no row to {'test' if len(own) else 'train'}", f"partition is {name}")
    whole, share = sum(PARTS), PARTS[1]
    enough = min(
        task.settings.get("rows", len(rows)), whole * len(own) // (whole - share), whole * len(tested) // share
    )
    train, test, known = np.diff(_ends(enough), prepend=0)
    return [own[:train], tested[:test], own[train : train + known]]


def _ends(rows: int) -> np.ndarray:
    """Cumulative ends of the training, test and auxiliary rows."""
    return np.cumsum(PARTS) * rows // sum(PARTS)
