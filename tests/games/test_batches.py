"""Every epoch of a training takes each row once, in an order of its own that all defenses of a seed share."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
from tests.games import test_federated as federated_runs
from tests.games import test_split as split_runs
from tests.games import test_split_server as server_runs

from cutlayer.games.federated.data import prepared
from cutlayer.games.split import defense as split
from cutlayer.games.split_server import defense as split_server

EPOCHS = 4
Rows = list[list[int]]


@dataclass(frozen=True)
class Labels(split.Defense):
    """Keeps the rows of every batch."""

    rows: Rows = field(default_factory=list)

    def backward(self, gradient: torch.Tensor, context: split.Context) -> torch.Tensor:
        self.rows.append(context.rows.tolist())
        return gradient


@dataclass(frozen=True)
class Features(split_server.Defense):
    """The same."""

    rows: Rows = field(default_factory=list)

    def penalty(self, features: torch.Tensor, context: split_server.Context) -> None:
        self.rows.append(context.rows.tolist())


def of_split(batch: int) -> Rows:
    own = Labels()
    split_runs.PROTOCOL.run(split_runs.task({"": own}, epochs=EPOCHS, batch=batch))
    return own.rows


def of_split_server(batch: int) -> Rows:
    own = Features()
    server_runs.PROTOCOL.run(server_runs.task(own, epochs=EPOCHS, batch=batch))
    return own.rows


def of_a_device(batch: int) -> Rows:
    """Two rounds of two local epochs."""
    made = federated_runs.task(batch=batch)
    data = prepared(made)
    orders = [data.order(made, "round", turn, 2) for turn in range(2)]
    first = data.places(2)[0]
    return [(rows - first).tolist() for order in orders for epoch in order for rows in epoch]


def epochs(batches: Rows) -> list[list[int]]:
    """The rows of each epoch, in their order."""
    size = len(batches) // EPOCHS
    return [[*itertools.chain(*batches[i * size : (i + 1) * size])] for i in range(EPOCHS)]


@pytest.mark.parametrize(
    ("made", "rows", "batch"), [(of_split, 180, 36), (of_split_server, 200, 40), (of_a_device, 20, 5)]
)
def test_every_epoch_is_another_permutation_of_all_rows(made: Any, rows: int, batch: int) -> None:
    found = epochs(made(batch))
    assert [sorted(order) for order in found] == [[*range(rows)]] * EPOCHS
    assert not any(alike(*pair) for pair in itertools.combinations([[*range(rows)], *found], 2))
    together = [{frozenset(order[i : i + batch]) for i in range(0, rows, batch)} for order in found]
    assert len(set.union(*together)) == EPOCHS * rows // batch  # nor do the same rows come together again


def alike(first: Sequence[int], second: Sequence[int]) -> bool:
    """Whether more rows are at the same place than in any two of a million permutations."""
    return int(np.sum(np.array(first) == np.array(second))) > 10


@pytest.mark.parametrize(("made", "rows"), [(of_split, 180), (of_split_server, 200)])
def test_what_is_left_over_is_dropped_and_is_something_else_each_time(made: Any, rows: int) -> None:
    found = epochs(made(32))
    left = [frozenset(range(rows)) - set(order) for order in found]
    assert [len(set(order)) for order in found] == [rows // 32 * 32] * EPOCHS == [*map(len, found)]
    assert len(set(left)) == EPOCHS


@pytest.mark.parametrize("made", [of_split, of_split_server, of_a_device])
def test_batches_are_the_same_in_every_training_of_a_seed(made: Any) -> None:
    assert made(20) == made(20)
