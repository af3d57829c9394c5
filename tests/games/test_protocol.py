"""What a protocol's training leaves: finite numbers, or a sentence that names who returned others."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch

from cutlayer.core.errors import InputError
from cutlayer.core.failures import _sentence
from cutlayer.data.datasets.base import Table
from cutlayer.games.base import checks
from cutlayer.games.base.protocol import Outcome, Protocol, Task
from cutlayer.games.split import defense as split

ROWS = 4
TABLE = Table(np.zeros((ROWS, 1)), np.zeros(ROWS, dtype=np.int64), {}, ("a",), (), 2)


@dataclass(frozen=True)
class Late(split.Defense):
    """Returns numbers until the third step, then what `instead` is."""

    instead: float = float("nan")
    calls: list[int] = field(default_factory=list)

    def backward(self, gradient: torch.Tensor, context: Any) -> torch.Tensor:
        self.calls.append(len(self.calls))
        return gradient * (self.instead if len(self.calls) == 3 else 1.0)


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
    defense = Late(instead)
    with pytest.raises(InputError, match=r"^defense\.test_protocol: backward returned a number that is not finite"):
        Steps(ends).outcome(task(defense))
    assert len(defense.calls) == ROWS  # it is not run again


@dataclass(frozen=True)
class Both(split.Defense):
    """Towards `target` and back; one of them spoils all that follows."""

    spoils: str
    calls: list[int] = field(default_factory=list)

    def soft_labels(self, context: Any) -> torch.Tensor:
        self.calls.append(len(self.calls))
        return torch.full((2, 2), self._number("soft_labels"))

    def backward(self, gradient: torch.Tensor, context: Any) -> torch.Tensor:
        return gradient * self._number("backward")

    def _number(self, hook: str) -> float:
        return float("nan") if len(self.calls) == 21 and hook == self.spoils else 1.0


@dataclass
class Long(Protocol):
    """Many steps, each of which starts with what came of the one before; `spoils` it itself in the 21st."""

    spoils: bool = False

    def run(self, task: Task) -> Outcome:
        defense, context, gradient = task.defenses[""], split.Context(TRAINING, torch.arange(2)), torch.ones(2, 3)
        for step in range(100):
            gradient = gradient * (float("nan") if self.spoils and step == 20 else 1.0)
            gradient = defense.backward(gradient * defense.soft_labels(context).sum(), context) / 4
        return recorded(gradient)


TRAINING = split.Training(
    labels=torch.zeros(2, dtype=torch.int64), classes=2, outputs=2, num_releases=1, generator=torch.Generator()
)


@pytest.mark.parametrize("hook", ["soft_labels", "backward"])
def test_of_many_steps_the_hook_that_spoiled_the_first_is_named_soon_and_nothing_runs_again(hook: str) -> None:
    defense = Both(hook)
    with pytest.raises(InputError, match=rf"^defense\.test_protocol: {hook} returned a number that is not finite"):
        Long().outcome(task(defense))
    assert 21 <= len(defense.calls) <= 21 + checks.TOGETHER


def test_large_results_do_not_wait() -> None:
    class Wide(Protocol):
        def run(self, task: Task) -> Outcome:
            for _ in range(3):
                task.defenses[""].backward(torch.ones(2, checks.ROOM), None)
                seen.append(len(checks._WAITING.get().results))
            return recorded(torch.zeros(1))

    seen: list[int] = []
    Wide().outcome(task(Late(1.0)))
    assert seen == [0, 0, 0]


def test_no_hook_is_named_where_the_training_itself_spoils_its_numbers() -> None:
    with pytest.raises(InputError, match=r"^run\.made/late/seed0: recorded numbers that are not finite"):
        Long(spoils=True).outcome(task(Both("")))


def test_an_error_in_a_hook_says_in_which() -> None:
    @dataclass(frozen=True)
    class Narrow(split.Defense):
        def backward(self, gradient: torch.Tensor, context: Any) -> torch.Tensor:
            return self._times(gradient)

        def _times(self, gradient: torch.Tensor) -> torch.Tensor:
            return gradient @ torch.ones(2, 2)

    with pytest.raises(RuntimeError) as error:
        Steps(recorded).outcome(task(Narrow()))
    line = Narrow._times.__code__.co_firstlineno - 2
    assert error.value.__notes__ == [f"in backward of defense.test_protocol, line {line}"]
    assert re.fullmatch(r"RuntimeError: .* \(in backward of defense\.test_protocol, line \d+\)", _sentence(error.value))


def test_a_training_that_ends_well_is_run_once() -> None:
    defense = Late(1.0)
    found = Steps(recorded).outcome(task(defense))
    assert found.transcripts[""]["gradients"].shape == (ROWS, 2, 3)
    assert len(defense.calls) == ROWS


def test_an_error_of_the_training_itself_stays_what_it_is() -> None:
    def missed(sent: torch.Tensor) -> Outcome:
        raise RuntimeError("no such key")

    with pytest.raises(RuntimeError, match="no such key") as error:
        Steps(missed).outcome(task(Late(1.0)))
    assert not hasattr(error.value, "__notes__")


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
        def backward(self, gradient: torch.Tensor, context: Any) -> torch.Tensor:
            return gradient[:, :1]

    with pytest.raises(InputError, match=r"backward returned a tensor of shape \(2, 1\)"):
        Steps(recorded).outcome(task(Narrow()))
