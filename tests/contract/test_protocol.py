"""What a protocol's training leaves: finite numbers, or a sentence that names who returned others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch

from cutlayer.core.errors import InputError
from cutlayer.data.datasets.base import Table
from cutlayer.games.base.protocol import Outcome, Protocol, Task
from cutlayer.games.split import defense as split

ROWS = 4
TABLE = Table(np.zeros((ROWS, 1)), np.zeros(ROWS, dtype=np.int64), {}, ("a",), (), 2)


@dataclass(frozen=True)
class Late(split.Defense):
    """Returns numbers until the third step, then what `instead` is."""

    instead: float = float("nan")
    calls: list[int] = field(default_factory=list)

    def backward(self, gradient: torch.Tensor, wire: Any) -> torch.Tensor:
        self.calls.append(len(self.calls))
        return gradient * (self.instead if len(self.calls) % ROWS == 3 else 1.0)


@dataclass
class Steps(Protocol):
    """Calls `backward` ROWS times, and does with what came back as `ends` says."""

    ends: Any

    def run(self, task: Task) -> Outcome:
        defense = task.defenses[""]
        return self.ends(torch.stack([defense.backward(torch.ones(2, 3), None) for _ in range(ROWS)]))


def recorded(sent: torch.Tensor) -> Outcome:
    return Outcome(transcripts={"": {"gradients": sent.numpy(), "steps": np.arange(len(sent))}})


def diverged(sent: torch.Tensor) -> Outcome:
    if not sent.isfinite().all():
        raise InputError("run.made", "training diverged", "lower the rate")
    return recorded(sent)


def broken(sent: torch.Tensor) -> Outcome:
    if not sent.isfinite().all():
        raise RuntimeError("a matrix has no eigenvalues")
    return recorded(sent)


def task(defense: split.Defense) -> Task:
    return Task("made", "late", 0, TABLE, {}, {"": defense})


@pytest.mark.parametrize("ends", [recorded, diverged, broken])
@pytest.mark.parametrize("instead", [float("nan"), float("inf")])
def test_a_hook_whose_numbers_are_not_finite_is_named_however_the_training_ends(ends: Any, instead: float) -> None:
    with pytest.raises(InputError, match=r"^defense\.test_protocol: backward returned a number that is not finite"):
        Steps(ends).outcome(task(Late(instead)))


def test_a_training_that_ends_well_is_run_once() -> None:
    defense = Late(1.0)
    found = Steps(recorded).outcome(task(defense))
    assert found.transcripts[""]["gradients"].shape == (ROWS, 2, 3)
    assert len(defense.calls) == ROWS


def test_an_error_of_the_training_itself_stays_what_it_is() -> None:
    def missed(sent: torch.Tensor) -> Outcome:
        raise RuntimeError("no such key")

    with pytest.raises(RuntimeError, match="no such key"):
        Steps(missed).outcome(task(Late(1.0)))


def test_numbers_that_no_hook_made_and_are_not_finite_are_no_outcome() -> None:
    with pytest.raises(
        InputError, match=r"^run\.made/late/seed0: recorded numbers that are not finite; lower the rate"
    ):
        Steps(lambda sent: recorded(sent / 0)).outcome(task(Late(1.0)))


def test_too_little_memory_is_not_tried_again() -> None:
    runs = []

    def full(sent: torch.Tensor) -> Outcome:
        runs.append(1)
        raise MemoryError

    with pytest.raises(MemoryError):
        Steps(full).outcome(task(Late(1.0)))
    assert len(runs) == 1


def test_shapes_are_looked_at_in_every_step() -> None:
    @dataclass(frozen=True)
    class Narrow(split.Defense):
        def backward(self, gradient: torch.Tensor, wire: Any) -> torch.Tensor:
            return gradient[:, :1]

    with pytest.raises(InputError, match=r"backward returned a tensor of shape \(2, 1\)"):
        Steps(recorded).outcome(task(Narrow()))
